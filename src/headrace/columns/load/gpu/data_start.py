"""Reads the begin of the data on the host, and counts what precedes it, which is short."""

from __future__ import annotations

from headrace import _native
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_errors import native_errors
from headrace.sources.kinds.gpu_array import first_fetch_bytes
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect

_QUOTES_BYTES = 4096  # bytes at the begin of the data that decide whether its fields are expected to have quotes
_COUNTS = ("records", "rows", "rejected", "leading", "filled", "blank", "comment", "passes")


def find_data(source: OpenSource, dialect: _native.Dialect, plan: LoadPlan) -> tuple[int, dict[str, int]]:
    """Return the first byte of the data, and the counts of records, blank lines and comments before it."""
    counts = dict.fromkeys(_COUNTS, 0)
    if plan.data_begin <= plan.begin:
        return plan.begin, counts
    if plan.before is not None:
        begin, counts["leading"], counts["blank"], counts["comment"] = plan.before
        return begin, counts
    with native_errors():
        preceding = _native.find_data(source.native, dialect, plan.isa, plan.begin, plan.data_begin, plan.end)
    begin, counts["leading"], counts["blank"], counts["comment"] = preceding
    return begin, counts


def data_prefix(source: OpenSource, begin: int, size: int) -> bytes:
    """Return the first of `size` bytes of data at `begin`: those that the host has already, unless they are few."""
    max_bytes = first_fetch_bytes(source.size)
    cached = max_bytes - begin if source.is_in_gpu_memory and 2 * begin <= max_bytes else max_bytes
    return bytes(source.native.read(begin, min(cached, size)))


def has_quotes(dialect: Dialect, prefix: bytes) -> bool:
    """Return whether the fields of data with this prefix are expected to have quotes."""
    return dialect.quote_char is not None and dialect.quote_char in prefix[:_QUOTES_BYTES]
