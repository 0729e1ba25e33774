"""Compares computed columns with Python's arithmetic, row by row, and columns of literals with their values."""

from __future__ import annotations

import datetime
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import headrace
from headrace import Context, DataType, OptionError, col
from headrace.arrange.filter.computed import computed_column, literal_column
from headrace.columns.types import parse_type
from tests.arrange.filter.filter_cases import random_table
from tests.isas import EACH_ISA

SIZES = [0, 1, 7, 8, 9, 1023, 1024, 1025, 32_769]


def signed(value):
    return (value + 2**63) % 2**64 - 2**63


EXPRESSIONS = {
    "int64": (col("i8") * 3 + col("i64"), ["i8", "i64"], lambda a, b: signed(a * 3 + b)),
    "uint64": (col("u64") + 5, ["u64"], lambda a: (a + 5) % 2**64),
    "int16": (col("i64") % 300 - 150, ["i64"], lambda a: a % 300 - 150),
    "uint8": (col("u32") // 20_000_000, ["u32"], lambda a: a // 20_000_000),
    "int32": (col("i16"), ["i16"], lambda a: a),
    "float32": (col("f32") * 3, ["f32"], lambda a: float(np.float32(a) * np.float32(3))),
    "float64": (col("f64") - col("i16"), ["f64", "i16"], lambda a, b: a - b),
    "float64 of a quotient": (col("i32") / 4, ["i32"], lambda a: a / 4),
    "float64 of integers": (col("u64"), ["u64"], float),
    "float64 of float32": (col("f32"), ["f32"], float),
    "bool": ((col("text") == "ab") ^ col("bool"), ["text", "bool"], lambda a, b: (a == "ab") != b),
    "bool of numbers": (col("i64").is_in([3, -5, 2]), ["i64"], lambda a: a in (3, -5, 2)),
    "date32 of nulls": (col("nothing"), ["nothing"], None),
}


@pytest.mark.parametrize("type_", ["float32", "float64"])
def test_a_zero_of_an_expression_keeps_its_sign(type_):
    values = np.array([1, -1, 0.0, -0.0], type_)
    columns = headrace.Table.from_arrow(pa.table({"a": values})).columns
    for zero in (-0.0, 0.0, Decimal("-0.0"), Decimal("-1e-400")):
        with np.errstate(divide="ignore", invalid="ignore"):
            results = [values + float(zero), values * float(zero), float(zero) - values, values / float(zero)]
        expressions = [col("a") + zero, col("a") * zero, zero - col("a"), col("a") / zero]
        for expression, expected in zip(expressions, results, strict=True):
            found = computed_column(columns, expression, DataType(type_), Context())
            assert list(map(repr, found.to_pylist())) == list(map(repr, expected.tolist())), expression


@cache
def whole_table(nulls):
    return headrace.Table.from_arrow(random_table(SIZES[-1] + 3, 1, nulls))


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("nulls", [0, 0.2])
def test_expressions(name, nulls, isa):
    expression, names, expected = EXPRESSIONS[name]
    table = whole_table(nulls).select(names)
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    wanted = [repr(None if None in values else expected(*values)) for values in rows]
    for size in SIZES:
        for threads, first in ((1, 0), (3, 3)):
            part = table[first : first + size]
            found = computed_column(part.columns, expression, DataType(name.split()[0]), Context(threads=threads, isa=isa))
            assert list(map(repr, found.to_pylist())) == wanted[first : first + size]
            assert found.null_count == wanted[first : first + size].count("None")


LITERALS = {
    "int8": [-128, 127, 5.0, Decimal(3)],
    "uint64": [0, 2**64 - 1],
    "float32": [0.5, -0.0, 3],
    "float64": [0.1, 2**53],
    "bool": [True, False],
    "date32": [datetime.date(1969, 12, 31)],
    "timestamp[us]": [datetime.datetime(2024, 1, 31, 12, 0, 0, 1)],
    "timestamp[ms, UTC]": [datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.UTC)],
    "time32[ms]": [datetime.time(23, 59, 59)],
    "duration[s]": [datetime.timedelta(days=-1)],
    "decimal128(5, 2)": [Decimal("-999.99"), Decimal("0.05")],
    "string": ["", "Zürich", "a\0b"],
    "large_string": ["x" * 100],
    "binary": [b"", b"\xff\0"],
    "large_binary": [b"ab"],
}


@pytest.mark.parametrize("type_", LITERALS)
def test_literals(type_):
    for value in [*LITERALS[type_], None]:
        for length in (0, 1, 9, 100):
            found = literal_column(value, parse_type(type_), length)
            assert (found.to_pylist(), found.type) == ([value] * length, type_)
            if isinstance(value, float) and type_.startswith("float"):
                assert list(map(repr, found.to_pylist())) == [repr(value)] * length
            assert found.null_count == (length if value is None else 0)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("int8", 128), ("int8", 0.5), ("int8", float("nan")), ("uint8", -1), ("bool", 1), ("float64", "1"), ("float64", True),
        ("date32", datetime.datetime(2024, 1, 1, 12)), ("timestamp[s]", datetime.datetime(2024, 1, 1, 0, 0, 0, 1)),
        ("timestamp[s]", datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)), ("decimal128(5, 2)", 1000),
        ("decimal128(5, 2)", "1"), ("decimal128(5, 2)", Decimal("0.001")),
        ("string", b"a"), ("binary", "a"), ("string", "\udc00"), ("null", 1),
    ],
)  # fmt: skip
def test_literals_that_a_type_does_not_have(type_, value):
    with pytest.raises(OptionError, match="does not have the value"):
        literal_column(value, parse_type(type_), 3)


def test_values_under_nulls_are_zero():
    columns = headrace.read_csv(b"a,b\n1,7\n2,\n3,9\n").columns
    found = computed_column(columns, col("a") + col("b"), DataType("int64"), Context())
    assert memoryview(found.values).cast("B").cast("q").tolist() == [8, 0, 12]
