"""Reads the first records of a text as lists of fields."""

from __future__ import annotations

from headrace import _native
from headrace.columns.plan.native_dialect import native_dialect
from headrace.columns.plan.native_errors import native_errors
from headrace.columns.schema import FirstRecord
from headrace.core.context import Context
from headrace.core.fast_constructor import fast_constructor
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.survey import ByteSpan


def first_records(source: OpenSource, dialect: Dialect, span: ByteSpan, context: Context, count: int) -> list[FirstRecord]:
    """Return at most `count` records of a span that are neither blank nor comments. The text ends where the span does."""
    with native_errors():
        found = _native.peek(source.native, native_dialect(dialect), context.isa, span.begin, count, span.end)
    return [_first_record(begin, tuple(fields), *more) for begin, fields, *more in found]


_first_record = fast_constructor(FirstRecord)
