"""`headrace.concat`: rows of several tables in one, against PyArrow and Polars."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import Context, concat
from headrace.core.errors import MemoryLimitError, OptionError, UnknownColumnError
from tests.arrange.columns_cases import table_of


@pytest.mark.parametrize("form", ["plain", "view", "dictionary"])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_those_of_pyarrow(form: str, threads: int) -> None:
    table = table_of(form)
    parts = [table[:70], table[13:13], table[64:901], table, table[5:6]]
    found = concat(parts, context=Context(threads=threads))
    expected = pa.concat_tables([part.to_arrow() for part in parts], promote_options="permissive")
    assert found.to_arrow().to_pydict() == expected.to_pydict()
    assert found.schema == table.schema
    assert [column.null_count for column in found.columns.values()] == [column.null_count for column in expected.columns]


NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


@pytest.mark.parametrize("one", NUMBERS)
@pytest.mark.parametrize("other", NUMBERS)
def test_types_are_those_of_polars_where_it_is_exact(one: str, other: str) -> None:
    """Polars has wider integers for uint64 beside signed ones, and may round in a float."""
    first, second = pa.table({"a": pa.array([1, None, 100], one)}), pa.table({"a": pa.array([3, 0, None], other)})
    found = concat([first, second])
    assert found["a"].to_pylist() == [1, None, 100, 3, 0, None]
    peer = pl.concat([pl.from_arrow(first), pl.from_arrow(second)], how="vertical_relaxed")  # type: ignore[list-item]
    if "float" not in one + other and not ("uint64" in (one, other) and {one[0], other[0]} == {"u", "i"}):
        assert str(peer["a"].dtype).lower() == str(found["a"].type)


def test_values_that_the_common_type_has_not_are_refused() -> None:
    for values in ([2**60, -(2**63), 0, None], [2**63, 2**64 - 2048]):
        exact = headrace.concat(
            [pa.table({"a": pa.array(values, pa.int64() if None in values else pa.uint64())}), pa.table({"a": [0.5]})]
        )
        assert exact.to_pydict() == {"a": [*(None if one is None else float(one) for one in values), 0.5]}
    for value in (2**63 - 1, 2**60 + 1, -(2**60) - 1, 2**64 - 1):
        with pytest.raises(OptionError, match="has values that float64 has not"):
            headrace.concat(
                [pa.table({"a": [0.5]}), pa.table({"a": pa.array([value], pa.int64() if value < 2**63 else pa.uint64())})]
            )
    large, floats = pa.table({"a": pa.array([2**53 + 1])}), pa.table({"a": pa.array([0.5])})
    with pytest.raises(OptionError, match=r"column 'a' of tables\[0\] is of type int64 and has values that float64 has not"):
        concat([large, floats])
    with pytest.raises(OptionError, match=r"column 'a' of tables\[1\] is of type uint64 and has values that int64 has not"):
        concat([pa.table({"a": pa.array([-1])}), pa.table({"a": pa.array([2**64 - 1], "uint64")})])


def test_texts_of_several_forms_are_plain() -> None:
    parts = [headrace.read_csv(b"a\nx\n\ny\n", strings=form, skip_blank_lines=False) for form in ("plain", "view", "dictionary")]
    parts.append(headrace.Table.from_arrow(pa.table({"a": pa.array(["z", None], "large_string")})))
    found = concat(parts)
    assert found["a"].type == "string"
    assert found["a"].to_pylist() == ["x", None, "y"] * 3 + ["z", None]


def test_dictionaries_are_unified() -> None:
    first, second = (headrace.read_csv(text, strings="dictionary") for text in (b"a\nx\ny\nx\n", b"a\nz\ny\n"))
    found = concat([first, second])["a"]
    assert found.type.name == "dictionary" and found.dictionary is not None
    assert found.dictionary.to_pylist() == ["x", "y", "z"]
    assert found.to_pylist() == ["x", "y", "x", "z", "y"]


def test_columns_are_matched_by_name_and_nulls_take_any_type() -> None:
    nulls = pa.table({"b": pa.nulls(2), "a": pa.array([5, 6], "int8")})
    found = concat(table for table in [headrace.read_csv(b"a,b\n1,2024-01-31\n"), nulls])
    assert found.schema == {"a": "int64", "b": "date32"}
    assert found["b"].null_count == 2 and found["a"].to_pylist() == [1, 5, 6]
    assert concat([nulls, nulls])["b"].to_pylist() == [None] * 4


def test_tables_of_other_libraries() -> None:
    tables = [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]}), pa.table({"a": [3]}), headrace.read_csv(b"a\n4\n")]
    assert concat(tables)["a"].to_pylist() == [1, 2, 3, 4]
    table = headrace.read_csv(b"a\n4\n")
    assert concat([table]).equals(table)


def test_iterators_of_tables() -> None:
    texts = [b"a\n1\n", b"a\n2\n"]
    for tables in (map(headrace.read_csv, texts), iter([headrace.read_csv(text) for text in texts])):
        assert concat(tables)["a"].to_pylist() == [1, 2]
    text = b"a,b\n" + b"1,x\n" * 50
    assert concat(headrace.scan_csv(text, batch_bytes=64).batches()).equals(headrace.read_csv(text))


def test_the_memory_limit_is_that_of_all_columns() -> None:
    """Each column alone is smaller than the limit."""
    table = headrace.read_csv(b"a,b,c,d\n" + b"1,2,3,4\n" * 10_000)
    with pytest.raises(MemoryLimitError):
        concat([table, table], context=Context(memory_limit=400_000))
    assert concat([table, table], context=Context(memory_limit=1_000_000)).shape == (20_000, 4)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([True, None, False] * 25),
        pa.array([0, None, 1] * 25, pa.timestamp("us", "Europe/Oslo")),
        pa.array([0, None, 1] * 25, pa.time64("ns")),
        pa.array([Decimal("0.05"), None, Decimal(-1)] * 25, pa.decimal128(9, 2)),
        pa.array([0, None, 1] * 25, pa.duration("s")),
    ],
    ids=lambda values: str(values.type),
)
def test_types_of_one_width(values: Any) -> None:
    table = pa.table({"a": values})
    found = concat([headrace.Table.from_arrow(table)[size:] for size in range(4)])
    expected = pa.concat_tables([table.slice(size) for size in range(4)])
    assert found.to_arrow().schema == expected.schema
    assert found.to_arrow().to_pydict() == expected.to_pydict()


COMMON = {
    pa.timestamp("ms"): (pa.date32(), pa.timestamp("ms"), pa.timestamp("s")),
    pa.timestamp("ns"): (pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us")),
    pa.timestamp("us", "Europe/Oslo"): (pa.timestamp("us", "Europe/Oslo"), pa.timestamp("ms", "Europe/Oslo")),
    pa.duration("ns"): (pa.duration("ns"), pa.duration("s")),
    pa.time64("us"): (pa.time32("s"), pa.time64("us"), pa.time32("ms")),
    pa.time32("ms"): (pa.time32("ms"), pa.time32("s")),
    pa.decimal128(20, 2): (pa.decimal128(5, 2), pa.decimal128(20, 2)),
}


@pytest.mark.parametrize(("common", "types"), COMMON.items(), ids=str)
def test_units_and_digits(common: pa.DataType, types: tuple[pa.DataType, ...]) -> None:
    values = [0, 7, None, 3]
    columns = []
    for kind in types:
        if pa.types.is_decimal(kind):
            columns.append(pa.array([None if one is None else Decimal(one) for one in values], kind))
        else:
            columns.append(pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind))
    tables = [pa.table({"a": column})[size:] for size, column in enumerate(columns)]
    found = concat(tables).to_arrow()
    expected = pa.concat_tables([table.cast(pa.schema([("a", common)])) for table in tables])
    assert (found.schema, found.to_pydict()) == (expected.schema, expected.to_pydict())


def test_units_that_have_not_each_value() -> None:
    last, fine = 2**63 // 10**9, pa.table({"a": pa.array([5], pa.timestamp("ns"))})
    for seconds in (last, -last, None):
        table = pa.table({"a": pa.array([seconds], pa.timestamp("s"))})
        assert concat([table, fine]).to_arrow()["a"].cast("int64").to_pylist() == [seconds and seconds * 10**9, 5]
    for seconds in (last + 1, -last - 1):
        with pytest.raises(OptionError, match=r"is of type timestamp\[s\] and has values that timestamp\[ns\] has not"):
            concat([pa.table({"a": pa.array([seconds], pa.timestamp("s"))}), fine])
    days = pa.table({"a": pa.array([2**31 - 1], pa.date32())})
    with pytest.raises(OptionError, match=r"is of type date32 and has values that timestamp\[ns\] has not"):
        concat([days, fine])


@pytest.mark.parametrize(
    "types",
    [
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.date32(), pa.timestamp("us", "UTC")),
        (pa.date32(), pa.duration("s")),
        (pa.time64("us"), pa.timestamp("us")),
        (pa.decimal128(5, 2), pa.decimal128(5, 3)),
        (pa.decimal128(5, 2), pa.int64()),
        (pa.bool_(), pa.int64()),
    ],
    ids=str,
)
def test_types_without_a_common_one(types: tuple[Any, ...]) -> None:
    with pytest.raises(OptionError, match=r"give both one type, by dtypes= of read_csv or by PyArrow's Table\.cast"):
        concat([pa.table({"a": pa.array([None], kind)}) for kind in types])


@pytest.mark.parametrize(
    ("tables", "error", "said"),
    [
        ([], OptionError, "tables is empty"),
        (headrace.read_csv(b"a\n1\n"), OptionError, "tables must be a list of tables"),
        ({"x": headrace.read_csv(b"a\n1\n")}, OptionError, "tables must be a list of tables"),
        (1, OptionError, "tables must be a list of tables"),
        ([headrace.read_csv(b"a\n1\n"), np.arange(3)], OptionError, r"tables\[1\] must be a table"),
        ([headrace.read_csv(b"a,b\n1,2\n"), headrace.read_csv(b"a\n1\n")], UnknownColumnError, r"tables\[1\] has no column 'b'"),
        ([headrace.read_csv(b"a\n1\n"), headrace.read_csv(b"a,b\n1,2\n")], UnknownColumnError, r"tables\[1\] has the column 'b'"),
        (
            [headrace.read_csv(b"a\n1\n"), headrace.read_csv(b"a\n2\n"), headrace.read_csv(b"a\nx\n")],
            OptionError,
            r"column 'a' of tables\[2\] is of type string, and that of tables\[0\] is of type int64",
        ),
        (
            [pa.table({"a": pa.nulls(1)}), pa.table({"a": ["x"]}), pa.table({"a": [1]}), pa.table({"a": ["y"]})],
            OptionError,
            r"column 'a' of tables\[2\] is of type int64, and that of tables\[1\] is of type string",
        ),
    ],
    ids=range(9),
)
def test_misuse(tables: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        concat(tables)
