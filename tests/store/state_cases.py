"""Stores in memory of a list that counts the reads of its changes."""

from __future__ import annotations

from dataclasses import replace

from headrace import read_csv
from headrace.core.context import Context
from headrace.core.prefix import Prefix
from headrace.store.files.log import SyncPolicy
from headrace.store.opening import Source, StoreRequest, opened
from headrace.store.triggers import MergeTriggers

SCHEMA = {"n": "int64", "city": "string"}
CONTEXT = Context(threads=1)


class CountedList(list):
    """A list that counts the items that are read."""

    reads = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        self.reads += len(found) if isinstance(key, slice) else 1
        return found

    def __iter__(self):
        for item in super().__iter__():
            self.reads += 1
            yield item


def counted_engine(on_duplicate="raise"):
    """Return an engine in memory, and the list of its changes."""
    source = Source(None, None, SyncPolicy(), MergeTriggers(), CONTEXT, CONTEXT)
    engine = opened(source, StoreRequest.of(SCHEMA, "n", on_duplicate, is_read_only=False)).engine
    changes = CountedList()
    engine._rows.use(replace(engine.state, added=Prefix(changes)))
    return engine, changes


def columns_of(rows):
    """Return rows of a number and a text as columns."""
    text = "".join(f"{n},{city or ''}\n" for n, city in rows).encode()
    return read_csv(text, header=False, names=list(SCHEMA), dtypes=SCHEMA).columns


def rows_in(columns):
    """Return columns as rows."""
    return list(zip(*(column.to_pylist() for column in columns.values()), strict=True))
