"""Tests types as values: their texts, their Arrow formats, and the objects that are accepted for them."""

from __future__ import annotations

import datetime
import decimal
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from headrace import _native
from headrace.columns.traits import TRAITS
from headrace.columns.types import ENCODED, DataType, parse_type, type_names
from headrace.core.errors import OptionError

LAYOUT = {
    "bool": ("b", 1),
    "int8": ("c", 8),
    "int16": ("s", 16),
    "int32": ("i", 32),
    "int64": ("l", 64),
    "uint8": ("C", 8),
    "uint16": ("S", 16),
    "uint32": ("I", 32),
    "uint64": ("L", 64),
    "float32": ("f", 32),
    "float64": ("g", 64),
    "date32": ("tdD", 32),
    "timestamp[s]": ("tss:", 64),
    "timestamp[ms]": ("tsm:", 64),
    "timestamp[us]": ("tsu:", 64),
    "timestamp[ns]": ("tsn:", 64),
    "timestamp[s, UTC]": ("tss:UTC", 64),
    "timestamp[ms, UTC]": ("tsm:UTC", 64),
    "timestamp[us, UTC]": ("tsu:UTC", 64),
    "timestamp[ns, UTC]": ("tsn:UTC", 64),
    "string": ("u", 32),
    "large_string": ("U", 64),
    "time32[s]": ("tts", 32),
    "time32[ms]": ("ttm", 32),
    "time64[us]": ("ttu", 64),
    "time64[ns]": ("ttn", 64),
    "duration[s]": ("tDs", 64),
    "duration[ms]": ("tDm", 64),
    "duration[us]": ("tDu", 64),
    "duration[ns]": ("tDn", 64),
    "decimal128(38, 9)": ("d:38,9", 128),
    "binary": ("z", 32),
    "large_binary": ("Z", 64),
    "null": ("n", 0),
    "string_view": ("vu", 128),
    "dictionary[int32, string]": ("i", 32),
}


@pytest.mark.parametrize("text", LAYOUT)
def test_type_has_its_text_format_and_width(text):
    parsed = parse_type(text)
    assert (str(parsed), parsed.arrow_format, parsed.bits) == (text, *LAYOUT[text])
    assert repr(parsed) == f"DataType('{text}')"


def test_every_type_is_listed():
    assert sorted(type_names()) == sorted(LAYOUT)


def test_list_of_types_is_the_native_one():
    native = {name: (bits, arrow, units) for name, bits, arrow, units in _native.type_list()}
    expected = {
        name: (traits.bits, traits.arrow.partition("{")[0], "".join(unit[0] for unit in traits.units))
        for name, traits in TRAITS.items()
        if name not in ENCODED
    }
    assert native == expected
    assert list(native) == list(expected)
    assert [str(parse_type(text).loaded_as) for text in LAYOUT if parse_type(text).name in ENCODED] == ["string", "string"]
    assert parse_type("int8").loaded_as == parse_type("int8")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (int, "int64"),
        (float, "float64"),
        (bool, "bool"),
        (str, "string"),
        (object, "string"),
        (datetime.date, "date32"),
        (datetime.datetime, "timestamp[us]"),
        (datetime.time, "time64[us]"),
        (datetime.timedelta, "duration[us]"),
        (bytes, "binary"),
        ("time", "time64[us]"),
        ("duration", "duration[us]"),
        ("timedelta", "duration[us]"),
        ("timedelta64[ns]", "duration[ns]"),
        ("Duration(time_unit='ms')", "duration[ms]"),
        ("blob", "binary"),
        ("decimal128(12, 2)", "decimal128(12, 2)"),
        ("DECIMAL(12,2)", "decimal128(12, 2)"),
        ("numeric(5)", "decimal128(5, 0)"),
        ("Decimal(precision=12, scale=2)", "decimal128(12, 2)"),
        ("Decimal(precision=None, scale=2)", "decimal128(38, 2)"),
        (DataType("decimal128", precision=3, scale=3), "decimal128(3, 3)"),
        (np.dtype("m8[s]"), "duration[s]"),
        (pa.time32("ms"), "time32[ms]"),
        (pa.time64("ns"), "time64[ns]"),
        (pa.duration("s"), "duration[s]"),
        (pa.decimal128(7, 3), "decimal128(7, 3)"),
        (pa.binary(), "binary"),
        (pa.large_binary(), "large_binary"),
        (pa.null(), "null"),
        (pl.Time, "time64[us]"),
        (pl.Duration("ns"), "duration[ns]"),
        (pl.Duration, "duration[us]"),
        (pl.Decimal(12, 2), "decimal128(12, 2)"),
        (pl.Binary, "binary"),
        (pl.Null, "null"),
        ("int", "int64"),
        ("float", "float64"),
        ("double", "float64"),
        ("str", "string"),
        ("date", "date32"),
        ("datetime", "timestamp[us]"),
        ("timestamp", "timestamp[us]"),
        ("datetime64[us]", "timestamp[us]"),
        ("datetime64[ns, UTC]", "timestamp[ns, UTC]"),
        ("timestamp[ms,utc]", "timestamp[ms, UTC]"),
        (" Int64 ", "int64"),
        (DataType("timestamp", "s", "UTC"), "timestamp[s, UTC]"),
        (np.float32, "float32"),
        (np.dtype("u2"), "uint16"),
        (np.dtype("M8[ms]"), "timestamp[ms]"),
        (np.dtype("O"), "string"),
        (pa.bool_(), "bool"),
        (pa.int8(), "int8"),
        (pa.float64(), "float64"),
        (pa.string(), "string"),
        (pa.large_string(), "large_string"),
        (pa.date32(), "date32"),
        (pa.timestamp("s", "UTC"), "timestamp[s, UTC]"),
        (pa.timestamp("us", "+00:00"), "timestamp[us, UTC]"),
        (pl.Int16, "int16"),
        (pl.Float32(), "float32"),
        (pl.String, "string"),
        (pl.Boolean, "bool"),
        (pl.Date, "date32"),
        (pl.Datetime, "timestamp[us]"),
        (pl.Datetime("ns"), "timestamp[ns]"),
        (pl.Datetime("ms", "UTC"), "timestamp[ms, UTC]"),
        (pd.Int64Dtype(), "int64"),
        (pd.StringDtype(), "string"),
        (pd.DatetimeTZDtype("ns", "UTC"), "timestamp[ns, UTC]"),
    ],
    ids=repr,
)
def test_what_stands_for_a_type(value, expected):
    assert str(parse_type(value)) == expected


def test_arrow_writes_float_for_its_float32():
    assert str(pa.float32()) == "float"
    assert parse_type(pa.float32()) == DataType("float32")
    assert parse_type("float") == DataType("float64")


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "",
        b"int64",
        "time64[s]x",
        "decimal256(50, 2)",
        "decimal128(1, 2, 3)",
        pa.decimal256(50, 2),
        "timestamp[D]",
        pa.float16(),
    ],
)
def test_what_stands_for_no_type_is_refused(value):
    with pytest.raises(OptionError, match=r"unknown type|no column has the type"):
        parse_type(value)


def test_refusal_names_the_nearest():
    with pytest.raises(OptionError, match=r"^unknown type 'floot64'; did you mean 'float64'\?$"):
        parse_type("floot64")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("foo",), "unknown type 'foo'"),
        ((3,), "unknown type 3"),
        (("int",), "unknown type 'int'; did you mean 'int8'"),
        (("timestamp",), "unknown unit of timestamp None; valid: s, ms, us, ns"),
        (("timestamp", "D"), "unknown unit of timestamp 'D'"),
        (("timestamp", "us", "Europe/Bonn"), "unknown time zone 'Europe/Bonn'"),
        (("timestamp", "us", ""), "unknown time zone ''"),
        (("time32", "us"), "unknown unit of time32 'us'"),
        (("time64", "s"), "unknown unit of time64 's'"),
        (("duration",), "unknown unit of duration None; valid: s, ms, us, ns"),
        (("duration", "us", "UTC"), "tz of duration must be None, not 'UTC'"),
        (("decimal128",), "precision of decimal128 must be 1 to 38 digits, not None"),
        (("decimal128", None, None, 39, 0), "precision of decimal128 must be 1 to 38 digits, not 39"),
        (("decimal128", None, None, True, 0), "precision of decimal128 must be 1 to 38 digits, not True"),
        (("decimal128", None, None, 5), "scale of decimal128 must be 0 to the precision 5, not None"),
        (("decimal128", None, None, 5, 6), "scale of decimal128 must be 0 to the precision 5, not 6"),
        (("decimal128", None, None, 5, -1), "scale of decimal128 must be 0 to the precision 5, not -1"),
        (("int64", None, None, 5, 2), "int64 has no precision and scale, but 5 and 2 are given"),
        (("int64", "us"), "int64 has no unit, but 'us' is given"),
        (("string", None, "UTC"), "tz of string must be None, not 'UTC'"),
    ],
)
def test_type_that_is_none_cannot_be_made(parts, message):
    with pytest.raises(OptionError, match=message):
        DataType(*parts)


@pytest.mark.parametrize("value", ["decimal", decimal.Decimal, pl.Decimal])
def test_decimal_without_digits_says_what_to_write(value):
    with pytest.raises(OptionError, match=r"lacks its precision and scale; write for example 'decimal128\(38, 9\)'"):
        parse_type(value)


def test_types_compare_hash_and_pickle_as_values():
    kind = parse_type("timestamp[us, UTC]")
    assert kind == DataType("timestamp", "us", "UTC") and kind != DataType("timestamp", "us")
    assert len({kind, DataType("timestamp", "us", "UTC")}) == 1
    assert pickle.loads(pickle.dumps(kind)) == kind


def test_questions_about_types():
    assert [text for text in LAYOUT if parse_type(text).is_string] == ["string", "large_string", "string_view"]
    assert [text for text in LAYOUT if parse_type(text).is_binary] == ["binary", "large_binary"]
    numeric = [text for text in LAYOUT if parse_type(text).is_numeric]
    assert numeric == [text for text in LAYOUT if text.startswith(("int", "uint", "float"))]


@pytest.mark.parametrize(
    ("text", "numpy"),
    [
        ("bool", None),
        ("string", None),
        ("int8", "int8"),
        ("float32", "float32"),
        ("date32", "int32"),
        ("timestamp[ms, UTC]", "M8[ms]"),
        ("time32[s]", "int32"),
        ("time64[ns]", "m8[ns]"),
        ("duration[s]", "m8[s]"),
        ("decimal128(38, 9)", None),
        ("binary", None),
        ("null", None),
    ],
)
def test_numpy_name_is_how_values_lie_in_memory(text, numpy):
    name = parse_type(text).numpy_name
    assert name is None if numpy is None else np.dtype(name) == np.dtype(numpy)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (pa.date64(), r"'date64\[ms\]': date32 has the same days"),
        (pa.float16(), "'halffloat': float32 has each of its values"),
        (pa.list_(pa.int8()), "'list<item: int8>': a field has no nested value"),
        (pl.Enum(["x"]), ".*: use 'category'"),
        (pl.Int128, "'Int128': use 'decimal128"),
        ("uuid", "'uuid': use 'string'"),
    ],
)
def test_types_that_no_column_has_say_what_to_use(given: object, advice: str) -> None:
    with pytest.raises(OptionError, match=f"no column has the type {advice}"):
        parse_type(given)
