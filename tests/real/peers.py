"""Calls other readers with headrace's dialect, and finds where they differ: in cells (given the types, too) and in the types they
infer.

Neither a reader's name for the same type nor its names for columns without a header count as a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import pytest

import headrace

if TYPE_CHECKING:
    import pyarrow as pa

Difference = tuple[str, str, str]
"""File, column (or its cell, ``column[row]``, or ``*`` for the whole file) and peer."""


@dataclass(frozen=True)
class Format:
    """Options that all readers get for a file, in headrace's words."""

    sep: str = ","
    header: bool = True
    quote_char: str = '"'
    escape_char: str | None = None
    null_values: tuple[str, ...] = ("",)


class CannotReadError(Exception):
    """The peer lacks a feature that the format needs."""


class Peer(Protocol):
    """A reader with results as Arrow; an unquoted null text is null, a quoted one is not."""

    def types(self, path: Path, form: Format) -> pa.Schema:
        """Names and types as the peer finds them."""

    def values(self, path: Path, form: Format, table: headrace.Table) -> pa.Table:
        """Values, with the names and types of `table`."""


class PyArrow:
    def types(self, path: Path, form: Format) -> pa.Schema:
        return self._read(path, form, {"autogenerate_column_names": not form.header}, {}).schema

    def values(self, path: Path, form: Format, table: headrace.Table) -> pa.Table:
        names = {"column_names": table.column_names, "skip_rows": int(form.header)}
        return self._read(path, form, names, {"column_types": table.to_arrow().schema})

    def _read(self, path: Path, form: Format, names: dict[str, Any], types: dict[str, Any]) -> pa.Table:
        csv = pytest.importorskip("pyarrow.csv")
        dialect = csv.ParseOptions(
            delimiter=form.sep, quote_char=form.quote_char, escape_char=form.escape_char or False, newlines_in_values=True
        )
        nulls = {"null_values": form.null_values, "strings_can_be_null": True, "quoted_strings_can_be_null": False}
        # One block: it infers types from the first.
        return csv.read_csv(path, csv.ReadOptions(block_size=1 << 26, **names), dialect, csv.ConvertOptions(**nulls, **types))


class DuckDB:
    _TYPES: ClassVar = {
        "int64": "BIGINT",
        "float64": "DOUBLE",
        "date32": "DATE",
        "time64[us]": "TIME",
        "string": "VARCHAR",
        "timestamp[us, UTC]": "TIMESTAMPTZ",
    }

    def types(self, path: Path, form: Format) -> pa.Schema:
        return self._read(path, form, sample_size=100_000, limit=0).schema

    def values(self, path: Path, form: Format, table: headrace.Table) -> pa.Table:
        columns = {name: self._TYPES[str(kind)] for name, kind in table.schema.items()}
        return self._read(path, form, columns=columns, auto_detect=False)

    def _read(self, path: Path, form: Format, limit: int | None = None, **options: Any) -> pa.Table:
        connection = pytest.importorskip("duckdb").connect()
        connection.execute("SET TimeZone = 'UTC'")
        found = connection.read_csv(
            str(path),
            header=form.header,
            sep=form.sep,
            quotechar=form.quote_char,
            escapechar=form.escape_char or form.quote_char,
            na_values=list(form.null_values),
            allow_quoted_nulls=False,
            **options,
        )
        return (found if limit is None else found.limit(limit)).to_arrow_table()


class Polars:
    def types(self, path: Path, form: Format) -> pa.Schema:
        # From all rows (None) it takes 20 s for the flights, to the same end.
        return self._read(path, form, has_header=form.header, infer_schema_length=2_000, try_parse_dates=True).schema

    def values(self, path: Path, form: Format, table: headrace.Table) -> pa.Table:
        schema = pytest.importorskip("polars").DataFrame(table.to_arrow().slice(0, 0)).schema
        return self._read(path, form, has_header=False, skip_rows=int(form.header), schema=schema)

    def _read(self, path: Path, form: Format, **options: Any) -> pa.Table:
        polars = pytest.importorskip("polars")
        if form.escape_char:
            raise CannotReadError("polars.read_csv has no escape character")
        # Named as a null text, the empty text is null in quotes too; unnamed, only without quotes.
        nulls = [text for text in form.null_values if text] or None
        return polars.read_csv(path, separator=form.sep, quote_char=form.quote_char, null_values=nulls, **options).to_arrow()


PEERS: Mapping[str, Peer] = {"pyarrow": PyArrow(), "duckdb": DuckDB(), "polars": Polars()}


def read(source: Path | bytes, form: Format, **options: Any) -> headrace.Table:
    """The file as headrace reads it, with all of its records accounted for."""
    table = headrace.read_csv(source, **asdict(form), **options)
    report = table.report
    report.check()
    assert report.records == table.num_rows + report.rejected + report.skipped.total
    assert report.rows == table.num_rows
    return table


def check_evidence(path: Path, table: headrace.Table) -> None:
    """Every inferred type of a column with a value names a field: it is in the file at the reported place, and not null."""
    text = path.read_bytes()
    for column in table.report.columns:
        assert (column.evidence is None) == (column.nulls == table.num_rows), column
        if found := column.evidence:
            assert text[found.byte : found.byte + len(found.text)] == found.text
            assert table[column.name][found.record - 1] is not None


def because(reason: str, file: str, peers: str, columns: str) -> dict[Difference, str]:
    """Entries of a table of explained differences: every column (split at spaces) with every peer."""
    return {(file, column, peer): reason for peer in peers.split() for column in columns.split()}


def explained(explanations: Mapping[Difference, str], file: str, peer: str) -> set[Difference]:
    """Return the differences that the explanations name for one file and peer."""
    return {key for key in explanations if key[0] == file and key[2] == peer}


def cell_differences(peer: str, path: Path, form: Format, table: headrace.Table) -> set[Difference]:
    """Cells of other bits, or null on one side only."""
    try:
        theirs = PEERS[peer].values(path, form, table)
    except CannotReadError:
        return {(path.name, "*", peer)}
    cells = different_cells(table.to_arrow(), theirs)
    return {(path.name, f"{column}[{row}]", peer) for column, row in cells}


def different_cells(ours: pa.Table, theirs: pa.Table) -> list[tuple[str, int]]:
    """Column and row of the cells that differ between two tables of one shape; floats by their bits."""
    pa, pc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.compute")
    assert theirs.shape == ours.shape
    found: list[tuple[str, int]] = []
    for name, mine, other in zip(ours.column_names, ours.columns, theirs.columns, strict=True):
        left, right = (column.cast(mine.type).combine_chunks() for column in (mine, other))
        if pa.types.is_float64(mine.type):
            left, right = left.view(pa.int64()), right.view(pa.int64())
        both_null = pc.and_(left.is_null(), right.is_null())
        same = pc.or_(pc.equal(left, right).fill_null(False), both_null)
        found += [(name, row) for row in pc.indices_nonzero(pc.invert(same)).to_pylist()]
    return found


def type_differences(peer: str, path: Path, form: Format, table: headrace.Table) -> set[Difference]:
    """Columns that the peer, left to itself, gives another type."""
    try:
        theirs = PEERS[peer].types(path, form)
    except CannotReadError:
        return {(path.name, "*", peer)}
    pairs = zip(_names(table.to_arrow().schema), _names(theirs), strict=True)
    return {(path.name, column, peer) for column, (mine, other) in zip(table, pairs, strict=True) if mine != other}


def _names(types: Iterable[pa.Field]) -> list[str]:
    short = {"large_string": "string", "string_view": "string"}
    return [short.get(str(field.type), str(field.type)) for field in types]
