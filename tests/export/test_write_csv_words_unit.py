"""Names and values of other writers of delimited text that `write_csv` accepts, and those that it refuses with advice."""

from __future__ import annotations

import csv
import inspect
import io
from typing import Any, get_overloads

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

from headrace import OptionError, write_csv

FRAME = pd.DataFrame({"a": ["x", 'q"q', "s,t", "n\\n"], "b": [1, 2, 3, 4]})


@pytest.mark.parametrize(
    "options",
    [
        {"quoting": csv.QUOTE_MINIMAL},
        {"quoting": csv.QUOTE_ALL},
        {"quoting": csv.QUOTE_NONE, "escapechar": "\\"},
        {"quoting": csv.QUOTE_NONE, "escapechar": "\\", "sep": "\t"},
        {"sep": ";", "na_rep": "NA", "lineterminator": "\r\n"},
    ],
    ids=str,
)
def test_words_of_pandas(options: dict[str, Any]) -> None:
    expected = FRAME.astype({"b": "object"}).to_csv(index=False, **options)
    assert write_csv(FRAME, **options).decode() == expected


@pytest.mark.parametrize("style", ["necessary", "always"])
def test_words_of_polars(style: Any) -> None:
    frame = pl.from_pandas(FRAME)
    assert write_csv(frame, quote_style=style).decode() == frame.write_csv(quote_style=style)
    assert write_csv(frame[:1], quote_style="never").decode() == frame[:1].write_csv(quote_style="never")


@pytest.mark.parametrize("style", ["needed", "all_valid"])
def test_words_of_pyarrow(style: Any) -> None:
    table, target = pa.table({"a": ["x", None, "s,t"], "b": ["y", "z", "q"]}), io.BytesIO()
    pyarrow.csv.write_csv(table, target, pyarrow.csv.WriteOptions(quoting_style=style, include_header=False))
    written = write_csv(table, quoting_style=style, include_header=False)
    assert written.replace(b'"', b"") == target.getvalue().replace(b'"', b"")
    assert written == (b'x,y\n,z\n"s,t",q\n' if style == "needed" else b'"x","y"\n,"z"\n"s,t","q"\n')


def test_words_of_duckdb() -> None:
    table = pa.table({"a": ["x", None], "b": [1, 2]})
    assert write_csv(table, delim="|", nullstr="NA", quote="'", escape="'") == b"a|b\nx|1\nNA|2\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quoting": csv.QUOTE_NONNUMERIC}, "quoting=2 quotes texts alone; pass 'all' for quotes around numbers too"),
        ({"quote_style": "non_numeric"}, "quoting='non_numeric' quotes texts alone"),
        ({"quoting": 7}, "unknown quoting 7; valid: minimal, all, none"),
        ({"quoting": True}, "unknown quoting True"),
        ({"quoting": None}, "unknown quoting None"),
        ({"force_quote": True}, "write_csv has no force_quote: pass quoting='all'"),
        ({"include_bom": True}, "write_csv has no include_bom: write the mark to an open file first"),
        ({"errors": "strict"}, "write_csv has no errors: remove it"),
    ],
    ids=str,
)
def test_other_words_say_what_to_use(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        write_csv(FRAME, **options)
    assert message in str(caught.value)


def test_without_quotes_or_escapes_the_error_names_both() -> None:
    with pytest.raises(OptionError, match="pass quoting='minimal', an escape_char, or another sep or null"):
        write_csv(FRAME, quoting=csv.QUOTE_NONE)  # type: ignore[call-overload]


def test_the_overloads_of_write_csv_have_its_options() -> None:
    options = list(inspect.signature(write_csv).parameters.values())[2:]
    described = [(option.name, option.kind, option.annotation) for option in options]
    for overload in get_overloads(write_csv):
        theirs = list(inspect.signature(overload).parameters.values())[2:]
        assert [(option.name, option.kind, option.annotation) for option in theirs] == described
