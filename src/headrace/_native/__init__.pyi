"""Declares the native module, which does all work per byte, in a file a stage. The Python modules that call it document it."""

from headrace._native.arrange import *
from headrace._native.columns import *
from headrace._native.core import *
from headrace._native.encode import *
from headrace._native.export import *
from headrace._native.gpu import *
from headrace._native.index import *
from headrace._native.primitives import *
from headrace._native.query import *
from headrace._native.sources import *
from headrace._native.store import *
from headrace._native.structure import *
