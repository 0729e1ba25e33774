"""Compares a table or error of `read_csv` with the reference. Floats are compared bit by bit, and all NaNs are equal."""

from __future__ import annotations

import math
import struct
from typing import Any

from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.core.errors import ParseError
from headrace.testing.reference import ReferenceTable


def assert_same_table(table: Table, expected: ReferenceTable) -> None:
    """Raise AssertionError if schema, values, nulls, rejects, evidence or counts differ."""
    table.report.check()
    assert list(table.schema.items()) == list(zip(expected.names, expected.types, strict=True))
    for column, values in zip(table.columns.values(), expected.columns, strict=True):
        assert raw_values(column) == [comparable(value, column.type.bits) for value in values]
        assert column.null_count == values.count(None)
    assert _rows(table.rejects) == expected.rejects
    found = [column.evidence for column in table.report.columns]
    assert [evidence and (evidence.record, evidence.byte, evidence.text) for evidence in found] == expected.evidence
    assert _counts(table) == expected.counts


def assert_same_error(error: ParseError, expected: ReferenceTable) -> None:
    """Raise AssertionError unless `error` is the first fault by record, then column."""
    first = expected.rejects[0]
    names = ("record", "line", "byte", "column", "kind", "expected")
    assert {name: getattr(error, name) for name in names} == {name: first[name] for name in names}
    assert error.text == (first["text"] if first["field"] is None else first["field"])


def raw_values(column: Column) -> list[Any]:
    """Return the values as stored: bits of floats, days, units, digits of decimals; None for null."""
    if column.type.is_string or column.type.is_binary or column.type.name in ("bool", "null"):
        return column.to_pylist()
    width = column.type.bits // 8
    part = memoryview(column.values)[column.offset * width : (column.offset + column.length) * width]
    if column.type.name == "decimal128":
        values = [int.from_bytes(part[at : at + width], "little", signed=True) for at in range(0, len(part), width)]
    else:
        numbers = part.cast("B").cast(column.type.struct_format)  # type: ignore[call-overload]
        values = [comparable(value, column.type.bits) for value in numbers]
    if column.validity is None:
        return values
    valid = memoryview(column.validity)
    places = range(column.offset, column.offset + column.length)
    return [value if valid[i // 8] >> i % 8 & 1 else None for i, value in zip(places, values, strict=True)]


def comparable(value: Any, bits: int) -> Any:
    """Return a float as the bytes of its format (-0.0 differs from 0.0), any NaN as one text, and other values unchanged."""
    if not isinstance(value, float):
        return value
    return "nan" if math.isnan(value) else struct.pack("d" if bits == 64 else "f", value)


def _rows(table: Table) -> list[dict[str, Any]]:
    columns = table.to_pydict()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _counts(table: Table) -> dict[str, int]:
    report = table.report
    counts = {"records": report.records, "rows": report.rows, "rejected": report.rejected}
    return counts | {name: getattr(report.skipped, name) for name in ("header", "blank", "comment")}
