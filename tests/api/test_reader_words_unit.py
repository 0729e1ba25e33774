"""Tests the words of other readers: each parameter has a row, and each row means what it says."""

from __future__ import annotations

import ast
import csv
import importlib.util
import inspect
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import headrace
from headrace import OptionError, read_csv, scan_csv
from headrace.api.options.csv_options import resolve_names
from headrace.api.options.table import ALIASES, DEFAULTS
from headrace.api.options.words import WORD_OF, WORDS

TEXT = b"a,b\n1,x\n2,y\n"


def words_of(reader: str) -> set[str]:
    return {word.name for word in WORDS if reader in word.readers}


def resolved(**words: object) -> dict[str, object]:
    """Return the options that differ from their defaults."""
    values, _ = resolve_names({}, words)
    return {name: value for name, value in values.items() if value is not DEFAULTS[name] and value != DEFAULTS[name]}


def test_every_parameter_of_pandas_and_polars_has_a_row() -> None:
    assert set(inspect.signature(pd.read_csv).parameters) <= words_of("pandas")
    both = {*inspect.signature(pl.read_csv).parameters, *inspect.signature(pl.scan_csv).parameters}
    assert both <= words_of("polars")


def test_every_parameter_of_pyarrow_has_a_row() -> None:
    functions = {*inspect.signature(pc.read_csv).parameters, *inspect.signature(pc.open_csv).parameters}
    kinds = (pc.ReadOptions, pc.ParseOptions, pc.ConvertOptions)
    options = {name for kind in kinds for name in dir(kind()) if name[0] != "_" and not callable(getattr(kind(), name))}
    options.add("invalid_row_handler")
    assert functions | options <= words_of("pyarrow")


def test_every_parameter_of_duckdb_has_a_row() -> None:
    query = "select parameters from duckdb_functions() where function_name in ('read_csv', 'read_csv_auto')"
    names = {name for (row,) in duckdb.connect().execute(query).fetchall() for name in row} - {"paths"}
    stubs = importlib.util.find_spec("_duckdb")
    assert stubs is not None and stubs.origin is not None
    tree = ast.parse((Path(stubs.origin).parent / "_duckdb-stubs" / "__init__.pyi").read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "read_csv"]
    names |= {argument.arg for node in found for argument in [*node.args.args, *node.args.kwonlyargs]} - {"self"}
    assert names <= words_of("duckdb")


CUDF = """
    filepath_or_buffer sep delimiter header names index_col usecols prefix mangle_dupe_cols dtype true_values false_values
    skipinitialspace skiprows skipfooter nrows na_values keep_default_na na_filter skip_blank_lines parse_dates dayfirst
    compression thousands decimal lineterminator quotechar quoting doublequote comment delim_whitespace byte_range
    storage_options bytes_per_thread
"""
"""Parameters in cuDF's documentation."""


def test_every_parameter_of_cudf_has_a_row() -> None:
    assert set(CUDF.split()) <= words_of("cudf")


TRANSLATED = [
    ("all_varchar", True, {"infer_schema": False}),
    ("all_varchar", False, {}),
    ("auto_detect", True, {"dialect": "auto"}),
    ("auto_detect", False, {}),
    ("auto_dict_encode", True, {"strings": "dictionary"}),
    ("autogenerate_column_names", True, {"header": False}),
    ("check_utf8", False, {"encoding_errors": "replace"}),
    ("check_utf8", True, {}),
    ("decimal_comma", True, {"decimal": ","}),
    ("default_column_type", None, {}),
    ("default_column_type", "int64", {"dtypes": "int64"}),
    ("default_column_type", pa.string(), {"infer_schema": False}),
    ("escape", '"', {}),
    ("escape", "\\", {"escape_char": "\\"}),
    ("hive_types", {"year": "BIGINT"}, {"dtypes": {"year": "BIGINT"}}),
    ("infer_schema_length", 0, {"infer_schema": False}),
    ("infer_schema_length", None, {}),
    ("keep_default_na", False, {"null_values": ()}),
    ("missing_columns", "insert", {"union_by_name": True, "include_missing_columns": True}),
    ("missing_columns", "raise", {}),
    ("na_filter", False, {"null_values": ()}),
    ("new_columns", ["p", "q"], {"names": ["p", "q"], "header": True}),
    ("null_padding", True, {"short_records": "null"}),
    ("on_bad_lines", "error", {}),
    ("on_bad_lines", "skip", {"short_records": "null", "long_records": "reject"}),
    ("on_bad_lines", "warn", {"short_records": "null", "long_records": "reject"}),
    ("parallel", False, {"threads": 1}),
    ("parse_dates", ["a"], {}),
    ("quoting", csv.QUOTE_ALL, {}),
    ("quoting", csv.QUOTE_MINIMAL, {}),
    ("quoting", csv.QUOTE_NONE, {"quote_char": None}),
    ("store_rejects", True, {"on_error": "reject"}),
    ("strict_mode", False, {"lenient_quotes": True}),
    ("timestamp_format", "%Y", {"date_format": "%Y"}),
    ("timestampformat", "%Y", {"date_format": "%Y"}),
    ("truncate_ragged_lines", True, {"short_records": "null", "long_records": "truncate"}),
    ("use_threads", False, {"threads": 1}),
    ("read_options", pc.ReadOptions(skip_rows=2, use_threads=False), {"skip_rows": 2, "threads": 1}),
    ("read_options", None, {}),
    ("parse_options", pc.ParseOptions(delimiter=";", quote_char=False), {"sep": ";", "quote_char": False}),
    ("convert_options", pc.ConvertOptions(null_values=["NA"], include_columns=["a"]), {"null_values": ["NA"], "columns": ["a"]}),
]


@pytest.mark.parametrize(("word", "value", "options"), TRANSLATED, ids=lambda one: str(one)[:30])
def test_words_that_stand_for_options(word: str, value: object, options: dict[str, object]) -> None:
    assert resolved(**{word: value}) == options


def test_every_translated_word_has_an_example() -> None:
    assert {word.name for word in WORDS if word.kind == "translated"} == {name for name, *_ in TRANSLATED}


@pytest.mark.parametrize("word", [word for word in WORDS if word.kind == "ignored"], ids=lambda word: word.name)
def test_words_without_an_effect(word: Any) -> None:
    for value in (True, False, None, 3, "c"):
        values, notes = resolve_names({}, {word.name: value})
        assert values == DEFAULTS
        assert notes == (f"{word.name} has no effect: {word.meaning}",)


@pytest.mark.parametrize("word", [word for word in WORDS if word.kind == "refused"], ids=lambda word: word.name)
def test_words_that_are_refused(word: Any) -> None:
    for value in word.unless:
        assert resolve_names({}, {word.name: value}) == (DEFAULTS, ())
    with pytest.raises(OptionError) as caught:
        resolve_names({}, {word.name: ["something"]})
    assert str(caught.value) == f"{word.name}=['something']: {word.meaning}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("word", [word for word in WORDS if word.kind == "option"], ids=lambda word: word.name)
def test_words_that_are_options(word: Any) -> None:
    assert (word.name in ALIASES) != (word.name in DEFAULTS)


def test_sources_have_no_name() -> None:
    for word in (word for word in WORDS if word.kind == "source" and word.name != "source"):
        with pytest.raises(TypeError, match="required positional argument: 'source'"):
            read_csv(**{word.name: TEXT})


SAME: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"header": None}, {"header": False}),
    ({"usecols": {"b", "a"}}, {"columns": ["a", "b"]}),
    ({"columns": "b"}, {"columns": ["b"]}),
    ({"columns": {"a": "VARCHAR", "b": "VARCHAR"}}, {"schema": {"a": "string", "b": "string"}}),
    ({"dtype": ["SMALLINT", "VARCHAR"]}, {"dtypes": {"a": "int16", "b": "string"}}),
    ({"column_types": pa.schema([("a", pa.int8())])}, {"dtypes": {"a": "int8"}}),
    ({"schema": pa.schema([("a", pa.int8()), ("b", pa.string())])}, {"schema": {"a": "int8", "b": "string"}}),
    ({"schema": [pa.field("a", pa.int8()), pa.field("b", pa.string())]}, {"schema": {"a": "int8", "b": "string"}}),
    ({"schema": pl.Schema({"a": pl.Int8, "b": pl.String})}, {"schema": {"a": "int8", "b": "string"}}),
    ({"na_values": [1]}, {"null_values": ["1"]}),
    ({"na_values": 1}, {"null_values": "1"}),
    ({"na_values": {"a": [1, "2"]}}, {"null_values": {"a": ["1", "2"]}}),
    ({"na_values": None, "true_values": None, "skiprows": None}, {}),
    ({"quotechar": None}, {"quote_char": None}),
    ({"quote_char": False, "escape_char": False}, {"quote_char": None}),
    ({"quote": ""}, {"quote_char": None}),
    ({"lineterminator": "\\n"}, {"lineterminator": "\n"}),
    ({"date_format": "ISO8601"}, {}),
    ({"timestamp_parsers": [pc.ISO8601]}, {}),
    ({"compression": "auto"}, {}),
    ({"compression": "none"}, {"compression": None}),
    ({"skiprows": range(1)}, {"skip_rows": 1}),
    ({"dialect": "excel"}, {}),
    ({"dialect": "excel-tab"}, {"sep": "\t"}),
    ({"dialect": csv.unix_dialect()}, {}),
    ({"dialect": headrace.Dialect(sep=";", quote_char="'"), "comment": "#"}, {"sep": ";", "quote_char": "'", "comment": "#"}),
    ({"dialect": headrace.Dialect(quote_char=None, strip=True), "sep": ";"}, {"quote_char": None, "strip": True, "sep": ";"}),
    ({"keep_default_na": False, "na_values": ["x"]}, {"null_values": ["x"]}),
    ({"block_size": 1, "n_threads": 1}, {}),
]


def _label(value: object) -> str:
    """Return a parameter's label: of words their names, since the text of a value may differ between processes."""
    return ",".join(value) if isinstance(value, dict) else str(value)[:40]


@pytest.mark.parametrize(("words", "options"), SAME, ids=_label)
def test_values_as_other_readers_write_them(words: dict[str, Any], options: dict[str, Any]) -> None:
    found, expected = read_csv(TEXT, **words), read_csv(TEXT, **options)
    assert found.to_pydict() == expected.to_pydict()
    assert found.schema == expected.schema
    assert scan_csv(TEXT, **words).read().to_pydict() == expected.to_pydict()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"sep": None}, "sep=None: pass dialect='auto' to find the separator"),
    ({"usecols": lambda name: True}, "no function; pass [name for name in sniff_csv(source).schema if wanted(name)]"),
    ({"sep": "\\t"}, "pass the separator itself, such as ' ' or '\\t'. To read runs"),
    ({"na_values": [None]}, "null_values holds None, which is not a text; the empty field is ''"),
    ({"row_index": "i"}, "unknown option 'row_index'; did you mean 'row_index_name'?"),
    ({"skiprows": lambda row: row == 3}, "skip_rows is a number of lines, and no function"),
    ({"skiprows": [3]}, "skip_rows is the number of lines before the header"),
    ({"quoting": csv.QUOTE_NONNUMERIC}, "pass dtypes="),
    ({"on_bad_lines": print}, "long_records='reject'"),
    ({"parse_dates": {"when": ["a", "b"]}}, "cannot join columns"),
    ({"date_format": "mixed"}, "a column has one format"),
    ({"convert_options": 3}, "must be an object of pyarrow.csv"),
    ({"delimiter": ";", "parse_options": pc.ParseOptions(delimiter=";")}, "delimiter and parse_options are both given"),
    ({"skip_rows": 1, "read_options": pc.ReadOptions(skip_rows=1)}, "skip_rows and read_options are both given"),
    ({"na_values": ["x"], "null_values": ["y"]}, "null_values and its other name na_values are both given"),
    ({"dialect": "excel-tab", "sep": ";"}, "sep and its other name dialect are both given"),
    ({"dialect": headrace.Dialect(sep="|"), "sep": ";"}, "sep and its other name dialect are both given"),
    ({"dialect": "excel-tabs"}, "did you mean 'excel-tab'?"),
    ({"dialect": 3}, "dialect must be 'auto', a Dialect, or a dialect of Python's csv, not 3"),
    ({"batch_bytes": 5}, "use scan_csv(source, batch_bytes=...).batches()"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED, ids=_label)
def test_values_that_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_csv(TEXT, **words)
    assert message in str(caught.value)


def test_words_that_belong_together() -> None:
    nulls = resolved(keep_default_na=True, na_values=["x"])["null_values"]
    assert {"", "NA", "nan", "x"} <= set(nulls)  # type: ignore[call-overload]
    values, _ = resolve_names({"date_format": "%d.%m.%Y"}, {"timestamp_format": "%Y"})
    assert values["date_format"] == ["%Y", "%d.%m.%Y"]
    assert resolved(hive_types={"y": "int"}, dtype={"a": "str"}) == {"dtypes": {"a": "str", "y": "int"}}
    assert resolved(new_columns=["p"], has_header=False) == {"names": ["p"], "header": False}
    assert resolved(quote="'", escape="'") == {"quote_char": "'"}
    assert resolved(rejects_limit=0) == {}
    assert resolved(rejects_limit=7) == {"max_rejects": 7}


def test_notes_are_in_every_report() -> None:
    note = "engine has no effect: there is one engine"
    table = read_csv(TEXT, engine="c")
    assert table.report.notes == (note,)
    assert note in str(table.report)
    assert read_csv([TEXT, TEXT], engine="c").report.notes == (note,)
    assert read_csv(TEXT, engine="c", dialect="auto").report.notes == (note,)
    assert scan_csv(TEXT, engine="c").read().report.notes == (note,)
    assert read_csv(TEXT).report.notes == ()


TYPES = [
    ("INTEGER", "int32"), ("BIGINT", "int64"), ("UTINYINT", "uint8"), ("REAL", "float32"), ("VARCHAR(20)", "string"),
    ("DOUBLE PRECISION", "float64"), ("TIMESTAMP WITH TIME ZONE", "timestamp[us, UTC]"), ("DECIMAL(10,2)", "decimal128(10, 2)"),
    ("<i4", "int32"), ("f8", "float64"), ("|u1", "uint8"), ("<U5", "string"), ("O", "string"), (np.str_, "string"),
    (np.dtype("U5"), "string"), (np.datetime64, "timestamp[us]"), ("int64[pyarrow]", "int64"), ("string[python]", "string"),
    (pd.ArrowDtype(pa.timestamp("ms")), "timestamp[ms]"), (pd.Int16Dtype(), "int16"),
    (pl.Categorical, "dictionary[int32, string]"),
    (pl.Datetime("ms", "Europe/Berlin"), "timestamp[ms, Europe/Berlin]"), (duckdb.sqltypes.HUGEINT, None),
    (duckdb.sqltypes.TIMESTAMP_TZ, "timestamp[us, UTC]"), (pa.large_string(), "large_string"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), TYPES, ids=lambda one: str(one)[:30])
def test_types_in_any_spelling(given: object, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(OptionError, match=r"no column has the type 'HUGEINT': use 'decimal128\(38, 0\)'"):
            read_csv(TEXT, dtypes={"a": given})
    else:
        assert str(read_csv(TEXT, dtypes={"a": given}, on_error="null").schema["a"]) == expected


def test_rows_have_one_name() -> None:
    assert len(WORD_OF) == len(WORDS)
    assert set(ALIASES) - set(WORD_OF) <= {"thousands_separator"}
