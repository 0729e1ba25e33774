"""Columns made by hand from Arrow's layout: values, slices, and NumPy's views of them."""

from __future__ import annotations

import datetime
import gc
import math
import struct
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import headrace
from headrace.columns.column import Column
from headrace.columns.types import parse_type
from headrace.core.buffer import copy_of


def bits(flags):
    """Return the flags bit-packed, least significant first, with ones after the end, which must not be read."""
    padded = [*flags, *[True] * (-len(flags) % 8)]
    return bytes(sum(bit << i for i, bit in enumerate(padded[at : at + 8])) for at in range(0, len(padded), 8))


def column(kind, layout, values, present=None):
    """A column of fixed width; `layout` is a letter of `struct`."""
    return Column(
        type=parse_type(kind),
        length=len(values),
        null_count=0 if present is None else present.count(False),
        values=copy_of(struct.pack(f"={len(values)}{layout}", *values)),
        validity=None if present is None else copy_of(bits(present)),
    )


def bools(values, present=None):
    made = column("int8", "b", [0] * len(values), present)
    return Column(parse_type("bool"), made.length, made.null_count, copy_of(bits(values)), made.validity)


def strings(values, kind="string"):
    encoded = [(value or "").encode() for value in values]
    ends = [0]
    for text in encoded:
        ends.append(ends[-1] + len(text))
    present = [value is not None for value in values]
    return Column(
        type=parse_type(kind),
        length=len(values),
        null_count=present.count(False),
        values=copy_of(b"".join(encoded)),
        validity=None if all(present) else copy_of(bits(present)),
        offsets=copy_of(struct.pack(f"={len(ends)}{'i' if kind == 'string' else 'q'}", *ends)),
    )


NUMBERS = [
    ("int8", "b", [-128, 0, 127]),
    ("int16", "h", [-(2**15), 0, 2**15 - 1]),
    ("int32", "i", [-(2**31), 0, 2**31 - 1]),
    ("int64", "q", [-(2**63), 0, 2**63 - 1]),
    ("uint8", "B", [0, 1, 255]),
    ("uint16", "H", [0, 1, 2**16 - 1]),
    ("uint32", "I", [0, 1, 2**32 - 1]),
    ("uint64", "Q", [0, 1, 2**64 - 1]),
    ("float32", "f", [-1.5, 0.0, math.inf]),
    ("float64", "d", [-1e300, 5e-324, -math.inf]),
]


@pytest.mark.parametrize(("kind", "layout", "values"), NUMBERS)
def test_numbers_come_back(kind, layout, values):
    made = column(kind, layout, values)
    assert made.to_pylist() == values and [made[i] for i in range(3)] == values and list(made) == values
    array = made.to_numpy()
    assert array.dtype == np.dtype(kind) and array.tolist() == values


@pytest.mark.parametrize(
    ("kind", "layout", "count", "expected"),
    [
        ("date32", "i", 0, datetime.date(1970, 1, 1)),
        ("date32", "i", -1, datetime.date(1969, 12, 31)),
        ("date32", "i", 19_782, datetime.date(2024, 2, 29)),
        ("timestamp[s]", "q", -1, datetime.datetime(1969, 12, 31, 23, 59, 59)),
        ("timestamp[ms]", "q", -1, datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000)),
        ("timestamp[us]", "q", 1, datetime.datetime(1970, 1, 1, 0, 0, 0, 1)),
        ("timestamp[us, UTC]", "q", 0, datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)),
        # What `datetime` would cut or cannot reach stays a count.
        ("timestamp[ns]", "q", 1_001, 1_001),
        ("timestamp[s]", "q", 2**62, 2**62),
        ("timestamp[us]", "q", -(2**63), -(2**63)),
        ("date32", "i", 2**31 - 1, 2**31 - 1),
    ],
)
def test_dates_and_times_come_back(kind, layout, count, expected):
    assert column(kind, layout, [count])[0] == expected


def test_bools_come_back_from_their_bits():
    flags = [True, False, False, True, True, True, False, True, False]
    assert bools(flags).to_pylist() == flags and bools(flags)[8] is False


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_strings_come_back(kind):
    texts = ["é", "", None, "a\0b", "日本"]
    assert strings(texts, kind).to_pylist() == texts and strings(texts, kind)[-1] == "日本"


@pytest.mark.parametrize("kind", ["binary", "large_binary"])
def test_bytes_come_back(kind):
    cells = [b"\xff\x00", b"", None, "é".encode()]
    text = strings([None if cell is None else cell.decode("latin-1") for cell in cells])
    encoded = b"".join(cell or b"" for cell in cells)
    ends = [0, 2, 2, 2, 4]
    offsets = copy_of(struct.pack(f"=5{'i' if kind == 'binary' else 'q'}", *ends))
    made = Column(parse_type(kind), 4, 1, copy_of(encoded), text.validity, offsets)
    assert made.to_pylist() == cells and made[1:].to_pylist() == cells[1:] and made[0] == b"\xff\x00"
    assert made.to_numpy().tolist() == cells and made.to_numpy().dtype == object


def decimals(kind, digits, present=None):
    made = column("int8", "b", [0] * len(digits), present)
    values = copy_of(b"".join(value.to_bytes(16, "little", signed=True) for value in digits))
    return Column(parse_type(kind), made.length, made.null_count, values, made.validity)


def test_decimals_keep_every_digit():
    digits = [10**38 - 1, 1 - 10**38, 0, -1, 2**64, -(2**64) - 5]
    for scale in (0, 2, 38):
        made = decimals(f"decimal128(38, {scale})", digits)
        assert [str(value) for value in made] == [str(Decimal((v < 0, [int(d) for d in str(abs(v))], -scale))) for v in digits]
    made = decimals("decimal128(5, 2)", [150, 99, -5], [True, False, True])
    assert made.to_pylist() == [Decimal("1.50"), None, Decimal("-0.05")] and made[2] == Decimal("-0.05")
    assert made.to_numpy().tolist() == made.to_pylist() and made[1:].to_pylist() == [None, Decimal("-0.05")]


def test_times_and_durations_come_back_in_their_units():
    clock = datetime.time
    assert column("time32[s]", "i", [0, 86_399]).to_pylist() == [clock(0), clock(23, 59, 59)]
    assert column("time32[ms]", "i", [1]).to_pylist() == [clock(0, 0, 0, 1000)]
    assert column("time64[us]", "q", [86_399_999_999]).to_pylist() == [clock(23, 59, 59, 999_999)]
    assert column("time64[ns]", "q", [1]).to_pylist() == [1]
    length = datetime.timedelta
    assert column("duration[s]", "q", [-1, 2]).to_pylist() == [length(seconds=-1), length(seconds=2)]
    assert column("duration[ms]", "q", [-1]).to_pylist() == [length(milliseconds=-1)]
    assert column("duration[us]", "q", [-(2**63)]).to_pylist() == [length(microseconds=-(2**63))]
    assert column("duration[ns]", "q", [-1]).to_pylist() == [-1]
    assert column("duration[s]", "q", [2**62, 1]).to_pylist() == [2**62, length(seconds=1)]


def nulls(length):
    return Column(parse_type("null"), length, length, copy_of(b""))


def test_column_of_nulls_has_nothing_but_its_length():
    assert nulls(3).to_pylist() == [None] * 3 and nulls(3)[1] is None and len(nulls(0)) == 0
    assert nulls(5)[1:3].null_count == 2 and nulls(5)[4:].to_pylist() == [None]
    assert nulls(2).to_numpy().tolist() == [None, None] and nulls(2).arrow_description() == ("", "n", 2, 0, [], None)


def test_nulls_are_none_whatever_lies_under_them():
    assert column("int64", "q", [1, 99, 3], [True, False, True]).to_pylist() == [1, None, 3]
    assert column("timestamp[us]", "q", [2**63 - 1], [False]).to_pylist() == [None]
    assert bools([True, True], [False, True]).to_pylist() == [None, True]


def test_empty_columns_are_empty():
    assert column("int64", "q", []).to_pylist() == [] and len(column("int64", "q", [])) == 0
    assert strings([]).to_pylist() == [] and bools([]).to_pylist() == []
    assert strings([]).to_numpy().tolist() == [] and bools([]).to_numpy().tolist() == []


@pytest.mark.parametrize("row", [3, -4, 2**70])
def test_row_that_is_not_there_is_an_index_error(row):
    with pytest.raises(IndexError, match=f"^row {row} of a column with 3 rows$"):
        column("int8", "b", [1, 2, 3])[row]


def test_rows_are_numbered_by_whole_numbers():
    made = column("int8", "b", [1, 2, 3])
    assert made[np.int64(2)] == 3 and made[-3] == 1
    for key in ("a", None, 1.0):
        with pytest.raises(TypeError):
            made[key]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 15, 16, 17, 64, 65])
def test_every_slice_of_a_slice_is_the_slice_of_the_list(length):
    values = [None if i % 3 == 1 else i for i in range(length)]
    present = [value is not None for value in values]
    whole = column("int32", "i", [value or 0 for value in values], present)
    flags, texts = bools([bool(i % 2) for i in range(length)], present), strings([None if v is None else str(v) for v in values])
    for begin, end in [(0, length), (1, length), (2, 9), (8, 16), (9, 8), (-3, None), (None, -1), (length, length + 5)]:
        part = whole[begin:end]
        assert part.to_pylist() == values[begin:end] and part.null_count == values[begin:end].count(None)
        assert part[1:4].to_pylist() == values[begin:end][1:4]
        assert flags[begin:end].to_pylist() == flags.to_pylist()[begin:end]
        assert texts[begin:end][1:].to_pylist() == texts.to_pylist()[begin:end][1:]


def test_slice_shares_its_memory_and_drops_marks_that_mark_nothing():
    made = column("int64", "q", [1, 2, 3], [True, False, True])
    assert made[:2].values is made.values and made[:2].validity is made.validity
    assert made[2:].validity is None and made[2:].null_count == 0


def test_slice_has_step_one():
    with pytest.raises(ValueError, match="step 1, not 2"):
        column("int8", "b", [1, 2, 3])[::2]


def test_numpy_shares_memory_where_it_can_and_keeps_it():
    made = column("int64", "q", [1, 2, 3])
    array = made[1:].to_numpy()
    assert array.ctypes.data == made.values.address + 8 and not array.flags.writeable
    del made
    gc.collect()
    assert array.tolist() == [2, 3]


def test_numpy_marks_nulls_in_each_kind_s_way():
    present = [True, False]
    integers = column("int64", "q", [1, 99], present).to_numpy()
    assert isinstance(integers, np.ma.MaskedArray) and integers.tolist() == [1, None] and integers.dtype == np.int64
    flags = bools([True, True], present).to_numpy()
    assert flags.tolist() == [True, None] and flags.dtype == np.bool_
    floats = column("float32", "f", [1.5, 9.0], present).to_numpy()
    assert floats.dtype == np.float32 and floats[0] == 1.5 and np.isnan(floats[1])
    dates = column("date32", "i", [19_782, 1], present).to_numpy()
    assert dates.dtype == np.dtype("M8[D]") and str(dates[0]) == "2024-02-29" and np.isnat(dates[1])
    times = column("timestamp[ns, UTC]", "q", [1, 2], present).to_numpy()
    assert times.dtype == np.dtype("M8[ns]") and times[0] == np.datetime64(1, "ns") and np.isnat(times[1])
    assert strings(["x", None]).to_numpy().tolist() == ["x", None]
    clocks = column("time32[s]", "i", [3600, 2], present).to_numpy()
    assert clocks.dtype == np.dtype("m8[s]") and clocks[0] == np.timedelta64(1, "h") and np.isnat(clocks[1])
    lengths = column("duration[us]", "q", [-1, 2], present).to_numpy()
    assert lengths.dtype == np.dtype("m8[us]") and lengths[0] == np.timedelta64(-1, "us") and np.isnat(lengths[1])


def test_plain_array_never_shows_what_lies_under_a_null():
    integers, flags = column("int64", "q", [2**60 + 1, 99], [True, False]), bools([True, True], [True, False])
    assert np.asarray(integers).tolist() == [2**60 + 1, None] and np.asarray(flags).tolist() == [True, None]
    assert np.isnan(np.asarray(column("int8", "b", [1, 99], [True, False]), dtype=float)).tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_plain_array_of_a_kind_without_null_is_refused_where_there_is_one(dtype):
    floats = column("float64", "d", [1.0, 2.0], [True, False])
    with pytest.raises(ValueError, match=f"the column holds 1 nulls, which {dtype} does not"):
        np.asarray(floats, dtype=dtype)
    assert np.asarray(floats[:1], dtype=dtype).tolist() == [1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["a", "a5", "|a5"])
def test_old_names_of_bytes_are_refused_without_a_warning(dtype):
    with pytest.raises(TypeError, match="dtype must be a type of NumPy for single values"):
        column("int64", "q", [1]).__array__(dtype)
    assert column("int64", "q", [1]).__array__("S5").tolist() == [b"1"]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 does not pass copy= on")
def test_plain_array_copies_as_asked():
    made = column("int64", "q", [1, 2])
    assert np.asarray(made, copy=False).ctypes.data == made.values.address
    copied = np.array(made, copy=True)
    assert copied.ctypes.data != made.values.address and copied.flags.writeable
    for other in (strings(["x"]), bools([True]), column("date32", "i", [1]), column("float64", "d", [1.0], [False])):
        with pytest.raises(ValueError, match="a copy is needed"):
            np.asarray(other, copy=False)
    with pytest.raises(ValueError, match="a copy is needed"):
        np.asarray(made, dtype="float64", copy=False)
    for kind in ("duration[s]", "time64[ns]"):
        shared = column(kind, "q", [1, 2])
        assert np.asarray(shared, copy=False).ctypes.data == shared.values.address
    for other in (column("time32[s]", "i", [1]), decimals("decimal128(5, 2)", [1]), nulls(1)):
        with pytest.raises(ValueError, match="a copy is needed"):
            np.asarray(other, copy=False)


def test_repr_shows_type_counts_and_first_values():
    assert repr(column("int8", "b", [1, 2], [True, False])) == "Column(int8, 2 rows, 1 null)[1, None]"
    assert repr(column("int8", "b", list(range(6)))) == "Column(int8, 6 rows, 0 null)[0, 1, 2, 3, 4, ...]"


def test_column_cannot_be_changed():
    with pytest.raises(AttributeError):
        column("int8", "b", [1]).length = 2


def test_import_brings_no_optional_package():
    code = "import sys, headrace; print(sorted({'numpy', 'pyarrow', 'pandas', 'polars', 'duckdb', 'cuda'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_views_hold_up_to_twelve_bytes_and_point_to_longer_texts():
    texts = ["x" * size for size in (0, 1, 4, 11, 12, 13, 100)]
    column = headrace.read_csv(("\n".join(f'"{text}"' for text in texts) + "\n").encode(), header=False, strings="view")[
        "column_1"
    ]
    assert column.type.name == "string_view" and column.to_pylist() == texts
    assert column[4:6].to_pylist() == texts[4:6]
