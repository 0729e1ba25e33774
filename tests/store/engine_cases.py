"""A store of numbers and cities in files that a test gives."""

from __future__ import annotations

from headrace import read_csv
from headrace.core.context import Context
from headrace.store.files.log import SyncPolicy
from headrace.store.opening import Source, StoreRequest, opened
from headrace.store.triggers import MergeTriggers

SCHEMA = {"n": "int64", "city": "string"}


def open_store(files, key="n", sync="always"):
    """Open a store, or create it. `key`: a column, None, or ``"n, replaced"`` to replace rows whose key is present."""
    context = Context(threads=1)
    source = Source("store", files, SyncPolicy(sync), MergeTriggers(), context, context)
    name, _, is_replaced = (None, "", "") if key is None else key.partition(", ")
    policy = "replace" if is_replaced else "raise"
    return opened(source, StoreRequest.of(SCHEMA, name, policy, is_read_only=False))


def columns_of(rows):
    """Return pairs of a number and a text as columns."""
    text = "".join(f"{key},{city or ''}\n" for key, city in rows).encode()
    return read_csv(text, header=False, names=list(SCHEMA), dtypes=SCHEMA).columns
