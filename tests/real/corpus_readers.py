"""Calls DuckDB, PyArrow, pandas and Python's csv with the facts stated for a file; every record is data, every field text or
null.

Python's csv and pandas know no null: for them a null is the empty text.
"""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from peers import Format, read

Rows = list[tuple[str | None, ...]]


@dataclass(frozen=True)
class Stated(Format):
    """Facts that a person states after a look at the file, in headrace's words."""

    header: bool = False
    quote_char: str | None = '"'  # type: ignore[assignment]
    short_records: str | None = None
    skip_rows: int = 0
    comment: str | None = None
    encoding: str | None = None
    lenient_quotes: bool = False


def read_headrace(path: Path, form: Stated, width: int) -> Rows:
    """Our rows; the report accounts for every record."""
    return list(zip(*read(path, form, infer_schema=False).to_pydict().values(), strict=True))


def read_duckdb(path: Path, form: Stated, width: int) -> Rows:
    """Return the rows, read with detection off and `width` columns of text."""
    options = {
        "delim": form.sep,
        "quote": form.quote_char or "",
        # With an escape it drops quotes that are not escaped.
        "escape": form.escape_char or ("" if form.lenient_quotes else form.quote_char) or "",
        "comment": form.comment or "",
        "skip": form.skip_rows,
        "nullstr": list(form.null_values),
        "encoding": form.encoding or "utf-8",
        "strict_mode": not form.lenient_quotes,
        "columns": {f"c{column}": "VARCHAR" for column in range(width)},
        "header": False,
        "auto_detect": False,
        "null_padding": form.short_records == "null",
        "hive_partitioning": False,
        "parallel": False,
        "allow_quoted_nulls": False,
    }
    names = ", ".join(f"{name} := ${name}" for name in options)
    return _duckdb().execute(f"SELECT * FROM read_csv($path, {names})", {"path": str(path)} | options).fetchall()


@cache
def _duckdb() -> Any:
    """Return the connection of all reads: another one takes twelve times as long as a read."""
    return pytest.importorskip("duckdb").connect()


def read_pyarrow(path: Path, form: Stated, width: int) -> Rows:
    """In one block."""
    arrow = pytest.importorskip("pyarrow.csv")
    text = pytest.importorskip("pyarrow").string()
    names = [f"c{column}" for column in range(width)]
    table = arrow.read_csv(
        path,
        arrow.ReadOptions(column_names=names, skip_rows=form.skip_rows, encoding=form.encoding or "utf8", block_size=1 << 26),
        arrow.ParseOptions(
            delimiter=form.sep,
            quote_char=form.quote_char or False,
            escape_char=form.escape_char or False,
            newlines_in_values=True,
        ),
        arrow.ConvertOptions(
            null_values=form.null_values,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            column_types=dict.fromkeys(names, text),
        ),
    )
    return list(zip(*table.to_pydict().values(), strict=True))


def read_pandas(path: Path, form: Stated, width: int) -> Rows:
    """Its C engine; it pads short records."""
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        # It only warns of fields that it drops.
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(
            path,
            sep=form.sep,
            quotechar=form.quote_char or '"',
            quoting=csv.QUOTE_MINIMAL if form.quote_char else csv.QUOTE_NONE,
            escapechar=form.escape_char,
            comment=form.comment,
            skiprows=form.skip_rows,
            encoding=form.encoding or "utf-8",
            names=range(width),
            index_col=False,
            header=None,
            dtype=str,
            na_filter=False,
        )
    return [tuple("" if not isinstance(cell, str) else cell for cell in row) for row in frame.itertuples(index=False)]


def read_csv_module(path: Path, form: Stated, width: int) -> Rows:
    """Records may have any number of fields; blank lines are left out, and short records padded, here.

    A separator of several bytes is replaced by a character that is nowhere in the text, and put back inside of fields.
    """
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode(form.encoding or "utf-8-sig")
    sep = form.sep
    if len(sep) > 1:
        sep = "\x1f"
        assert sep not in text
        text = text.replace(form.sep, sep)
    lines = io.StringIO(text, newline="")
    for _ in range(form.skip_rows):
        lines.readline()
    records = csv.reader(
        lines,
        delimiter=sep,
        quotechar=form.quote_char,
        quoting=csv.QUOTE_MINIMAL if form.quote_char else csv.QUOTE_NONE,
        escapechar=form.escape_char,
        strict=not form.lenient_quotes,
    )
    rows = [tuple(field.replace(sep, form.sep) for field in record) for record in records if record]
    return [row + ("",) * (width - len(row)) for row in rows]


READERS: Mapping[str, Callable[[Path, Stated, int], Rows]] = {
    "headrace": read_headrace,
    "DuckDB": read_duckdb,
    "PyArrow": read_pyarrow,
    "pandas": read_pandas,
    "csv": read_csv_module,
}
KNOW_NULL = ("headrace", "DuckDB", "PyArrow")


def third_reader(form: Stated) -> str:
    """Return PyArrow if it supports the dialect; pandas has comments, Python's csv (with a detour) long separators."""
    if form.comment:
        return "pandas"
    return "csv" if len(form.sep) > 1 or form.short_records else "PyArrow"


@dataclass(frozen=True)
class Answer:
    """Answer of a reader for a file: its rows, or the first line of its refusal."""

    reader: str
    rows: Rows | None
    error: str = ""

    def texts(self) -> Rows:
        """The rows, null as the empty text."""
        return [tuple(cell or "" for cell in row) for row in self.rows or []]


def ask(reader: str, path: Path, form: Stated, width: int = 0) -> Answer:
    """Return the reader's answer; a refusal does not contain the path of the file on this machine."""
    try:
        return Answer(reader, READERS[reader](path, form, width))
    except AssertionError:
        raise
    except Exception as error:  # noqa: BLE001 - every reader has errors of its own
        line = next(iter(str(error).replace(str(path), path.name).splitlines()), "").partition("; pass ")[0]
        return Answer(reader, None, f"{type(error).__name__}: {line}")


def difference(ours: Answer, theirs: Answer) -> str:
    """Return the difference of their answer, or an empty string."""
    if ours.rows is None or theirs.rows is None:
        if (ours.rows is None) == (theirs.rows is None):
            return ""
        return f"refuses: {theirs.error}" if theirs.rows is None else f"reads {len(theirs.rows)} rows"
    both = theirs.reader in KNOW_NULL
    mine, other = (ours.rows, theirs.rows) if both else (ours.texts(), theirs.texts())
    if len(mine) != len(other):
        return _counted(len(other), "row")
    if widths := {len(row) for row in other} - {len(row) for row in mine}:
        return _counted(max(widths), "column")
    cells = sum(a != b for left, right in zip(mine, other, strict=True) for a, b in zip(left, right, strict=True))
    return _counted(cells, "cell") if cells else ""


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
