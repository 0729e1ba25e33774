"""Lists instruction sets for tests that cover each: all but the best are marked long."""

from __future__ import annotations

import pytest

from headrace import _native

_BEST, *_OTHERS = _native.isas()
EACH_ISA = [_BEST, *(pytest.param(isa, marks=pytest.mark.long) for isa in _OTHERS)]
"""Values of a parameter `isa`."""
