"""Writes any table and reads it again: with headrace to the same bits, with PyArrow and Python's csv to the same values."""

from __future__ import annotations

import csv
import datetime
import io
import random
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

import headrace
from tests.examples import examples

SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
FIRST_SECOND, LAST_SECOND = -62167219200, 253402300799  # years 0000 to 9999
TEXTS = st.one_of(st.text(max_size=40), st.text("ab,\"'\r\n\t #;|é\ufeffN", max_size=20))


def integers(kind: str) -> st.SearchStrategy[int]:
    limits = np.iinfo(kind)
    return st.integers(int(limits.min), int(limits.max))


def ticks(unit: str) -> st.SearchStrategy[int]:
    units = TICKS[unit]
    low, high = max(FIRST_SECOND * units, -(2**63)), min((LAST_SECOND + 1) * units - 1, 2**63 - 1)
    return st.integers(low, high) | st.integers(-(-low // units), high // units).map(lambda seconds: seconds * units)


def column(kind: str) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    """Arrow type and values of a type that headrace reads."""
    if kind in INTEGERS:
        return pa.type_for_alias(kind), integers(kind)
    if kind.startswith("timestamp"):
        unit, _, zone = kind[10:-1].partition(", ")
        return pa.timestamp(unit, zone or None), ticks(unit)
    if kind.startswith("duration"):
        unit = kind[9:-1]
        return pa.duration(unit), integers("int64") | st.integers(-3, 3).map(lambda days: days * 86400 * TICKS[unit])
    if kind.startswith("time"):
        unit = kind[7:-1]
        made = pa.time32 if kind.startswith("time32") else pa.time64
        return made(unit), st.integers(0, 86400 * TICKS[unit] - 1)
    if kind.startswith("decimal"):
        precision, scale = map(int, kind[11:-1].split(", "))
        most = 10**precision - 1
        return pa.decimal128(precision, scale), st.integers(-most, most).map(lambda digits: exact(digits, scale))
    return {
        "bool": (pa.bool_(), st.booleans()),
        "float32": (pa.float32(), st.floats(width=32)),
        "float64": (pa.float64(), st.floats()),
        "date32": (pa.date32(), st.integers(FIRST_SECOND // 86400, LAST_SECOND // 86400)),
        "string": (pa.string(), TEXTS),
        "large_string": (pa.large_string(), TEXTS),
        "binary": (pa.binary(), st.binary(max_size=20)),
        "large_binary": (pa.large_binary(), st.binary(max_size=20)),
    }[kind]


def exact(digits: int, scale: int) -> Decimal:
    with localcontext(prec=80):
        return Decimal(digits).scaleb(-scale)


KINDS = [*INTEGERS, "bool", "float32", "float64", "date32", "string", "large_string"]
KINDS += [f"timestamp[{unit}{zone}]" for unit in TICKS for zone in ("", ", UTC")]
OTHER_KINDS = [*(f"duration[{unit}]" for unit in TICKS), "time32[s]", "time32[ms]", "time64[us]", "time64[ns]"]
OTHER_KINDS += ["decimal128(38, 0)", "decimal128(38, 38)", "decimal128(7, 2)", "binary", "large_binary"]
WRITINGS = st.fixed_dictionaries(
    {},
    optional={
        "sep": st.sampled_from([";", "\t", "|", "||", "-", "1", ".", ":", " ", "e"]),
        "quote_char": st.sampled_from(["'", "~", ":"]),
        "quoting": st.just("all"),
        "null": st.sampled_from(["NA", "N", "null"]),
        "line_end": st.sampled_from(["\r\n", "\r", "~", "<>"]),
        "comment": st.sampled_from(["#", "//"]),
        "threads": st.integers(1, 3),
    },
)


@st.composite
def tables(draw: st.DrawFn, of: Sequence[str] = KINDS) -> tuple[list[str], pa.Table]:
    kinds = draw(st.lists(st.sampled_from(of), min_size=2, max_size=5))
    rows = draw(st.integers(0, 8))
    arrays = []
    for kind in kinds:
        arrow, values = column(kind)
        arrays.append(pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), arrow))
    names = draw(st.lists(TEXTS, min_size=len(kinds), max_size=len(kinds), unique=True))
    return kinds, pa.table(arrays, names=names)


def bits(array: pa.ChunkedArray) -> list[object]:
    """Values that are equal only if their bits are."""
    if pa.types.is_temporal(array.type):  # Python has no year 0, and no nanoseconds
        return array.cast(
            pa.int32() if pa.types.is_date(array.type) or pa.types.is_time32(array.type) else pa.int64()
        ).to_pylist()
    if not pa.types.is_floating(array.type):
        return array.to_pylist()
    words = {16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}[array.type.bit_width]
    return array.combine_chunks().view(words).to_pylist()


ENDS = pa.array([-(2**63), -86400], pa.duration("s"))


@settings(SETTINGS, max_examples=examples(300))
@given(tables(KINDS + OTHER_KINDS), WRITINGS)
@example((["duration[s]"] * 2, pa.table({"a": pa.array([-86401, 2**63 - 1], pa.duration("s")), "b": ENDS})), {})
@example((["duration[s]"] * 2, pa.table({"a": pa.array([-1, 0], pa.duration("s")), "b": ENDS})), {"sep": "-"})
def test_headrace_reads_back_the_same_bits(made: tuple[list[str], pa.Table], writing: dict[str, Any]) -> None:
    kinds, table = made
    try:
        text = headrace.write_csv(table, **writing)
    except headrace.OptionError as error:
        if "share the byte" not in str(error) and "has another meaning" not in str(error):
            raise
        return
    line_end = writing.get("line_end")
    back = headrace.read_csv(
        text,
        header=True,
        dtypes=dict(enumerate(kinds)),
        sep=writing.get("sep", ","),
        quote_char=writing.get("quote_char", '"'),
        null_values=writing.get("null", ""),
        comment=writing.get("comment"),
        lineterminator=None if line_end in {None, "\r\n", "\r"} else line_end,
    )
    assert back.num_rows == table.num_rows
    for written, read in zip(table.columns, pa.table(back).columns, strict=True):
        assert bits(written) == bits(read)


@settings(SETTINGS, max_examples=examples(125))
@given(tables())
def test_arrow_reads_back_the_same_values(made: tuple[list[str], pa.Table]) -> None:
    kinds, table = made
    table = table.rename_columns([f"c{i}" for i in range(len(kinds))])
    # PyArrow 26 cannot read nanoseconds within the first second that it has.
    nanoseconds = [column.cast("int64").to_pylist() for column in table.columns if column.type == pa.timestamp("ns")]
    lowest = [value for column in nanoseconds for value in column if value is not None]
    assume(all(value >= -(2**63) + 10**9 for value in lowest))
    nulls = {"strings_can_be_null": True, "quoted_strings_can_be_null": False, "null_values": [""]}
    back = arrow_csv.read_csv(
        io.BytesIO(headrace.write_csv(table)),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=table.schema, **nulls),
    )
    for written, read in zip(table.columns, back.columns, strict=True):
        assert bits(written) == bits(read)


@settings(SETTINGS, max_examples=examples(125))
@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), max_size=6), st.sampled_from(["minimal", "all"]))
def test_python_reads_the_same_texts(rows: list[list[str]], quoting: str) -> None:
    table = pa.table([pa.array([row[i] for row in rows], pa.string()) for i in range(3)], names=["a", "b", "c"])
    text = headrace.write_csv(table, header=False, quoting=quoting).decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == rows


@settings(SETTINGS, max_examples=examples(150))
@given(st.lists(st.floats(allow_nan=False) | st.floats(0, 1e6).map(lambda value: round(value, 3)), min_size=1))
def test_doubles_are_written_as_python_writes_them(values: list[float]) -> None:
    assert headrace.write_csv(pa.table({"a": values}), header=False).decode().split() == [repr(value) for value in values]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_many_floats_are_shortest(kind: str) -> None:
    rng = np.random.default_rng(5)
    raw = rng.integers(0, 2**32, 100_000, dtype="u4").view("f4")
    powers = 2.0 ** np.arange(-149, 128)
    if kind == "float64":
        raw, powers = rng.integers(0, 2**64, 100_000, dtype="u8").view("f8"), 2.0 ** np.arange(-1074, 1024)
    values = np.concatenate(
        [raw[np.isfinite(raw)], powers.astype(kind), np.round(rng.random(1000) * 1000, 2), np.nextafter(powers, 0)]
    )
    values = values[np.isfinite(values)].astype(kind)
    texts = headrace.write_csv(pa.table({"a": values}), header=False).decode().split()
    assert np.array_equal(np.array(texts, kind).view("u1"), values.view("u1"))
    # NumPy's shortest digits (Ryu's and Grisu's kin are other programs than ours): as many digits as ours.
    for text, value in zip(texts[::7], values[::7], strict=True):
        assert Decimal(text) == Decimal(np.format_float_scientific(value, unique=True))


@settings(SETTINGS, max_examples=examples(125))
@given(
    st.sampled_from([pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal128(20, 20), pa.decimal256(76, 38)]),
    st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1),
)
def test_decimals_are_exact(kind: pa.DataType, unscaled: list[int]) -> None:
    with localcontext(prec=100):
        values = [Decimal(abs(value) % 10**kind.precision * (-1 if value < 0 else 1)).scaleb(-kind.scale) for value in unscaled]
    texts = headrace.write_csv(pa.table({"a": pa.array(values, kind)}), header=False).decode().split()
    assert texts == [format(value if value else abs(value), "f") for value in values]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("batch", [1, 1000, 10**6])
def test_text_does_not_depend_on_threads_or_batches(threads: int, batch: int) -> None:
    rows = 3000 if batch == 1 else 300_000
    rng = random.Random(1)
    table = pa.table({"i": range(rows), "s": [rng.choice(["x", "a,b", "", "y" * 50]) for _ in range(rows)]})
    expected = "i,s\n" + "".join(
        f"{i},{text if text not in {'a,b', ''} else chr(34) + text + chr(34)}\n" for i, text in enumerate(table["s"].to_pylist())
    )
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=batch))
    assert headrace.write_csv(reader, threads=threads) == expected.encode()
    sink = io.BytesIO()
    headrace.write_csv(table, sink, threads=threads)
    assert sink.getvalue() == expected.encode()


@settings(SETTINGS, max_examples=examples(100))
@given(st.lists(st.none() | TEXTS, max_size=20), st.integers(0, 5), st.integers(0, 5))
def test_every_layout_of_text_is_the_same_text(values: list[str | None], first: int, last: int) -> None:
    plain, rows = pa.array(values, pa.string()), slice(first, max(first, len(values) - last))
    expected = headrace.write_csv(pa.table({"a": plain, "b": plain})[rows])
    layouts = [pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
    arrays = [plain.cast(layout) for layout in layouts] + [plain.dictionary_encode()]
    for array in arrays:
        assert headrace.write_csv(pa.table({"a": array, "b": plain})[rows]) == expected
    assert headrace.write_csv(pl.DataFrame({"a": plain, "b": plain})[rows]) == expected


def test_numbers_and_dates_at_the_edges_of_the_writers_steps() -> None:
    """Integers are written eight digits at a time, decimals by two words, and years by eras of 400."""
    integers = [10**digits + step for digits in range(19) for step in (-1, 0, 1)]
    assert headrace.write_csv(pa.table({"a": integers})) == "".join(f"{line}\n" for line in ("a", *integers)).encode()
    decimals = [Decimal(sign << bits) for bits in (0, 31, 32, 33, 63, 64, 65, 96, 120) for sign in (1, -1)]
    table = pa.table({"a": pa.array(decimals, pa.decimal128(38, 0))})
    assert headrace.write_csv(table) == "".join(f"{line}\n" for line in ("a", *decimals)).encode()
    dates = [datetime.date(year, month, day) for year in range(1, 2402) for month, day in ((2, 28), (3, 1), (12, 31))]
    assert headrace.write_csv(pa.table({"a": dates})) == "".join(f"{line}\n" for line in ("a", *dates)).encode()
