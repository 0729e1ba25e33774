"""Provides hypothesis strategies for dialects and texts in which special bytes are often adjacent. Needs hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from headrace.structure.dialect import ESCAPE_LETTERS, FLAGS, MALFORMED_QUOTES_ARE_TEXT, Dialect

_PLAIN = (b"x", b"yz", b"0", b" ", "é".encode(), b"\0")


def dialects() -> st.SearchStrategy[Dialect]:
    """Generate valid dialects with all options. Separators and line ends of 1 to 8 bytes use two letters, so that many overlap
    themselves.
    """
    return _dialects()


def lenient_dialects() -> st.SearchStrategy[Dialect]:
    """Generate valid dialects with lenient quotes."""
    return _dialects(lenient=True)


@st.composite
def _dialects(draw: st.DrawFn, lenient: bool = False) -> Dialect:
    seps = [b",", b"\t", b"||", b"aab", b"abab", b"::", b", ", b"\0", b" "]
    line_ends = [None, None, b"\n", b"\r\n", b"\r", b";", b";;", b"\r\r\n"]
    comments = [None, None, b"#", b"//", b"#//", b"##"]
    sep = draw(st.sampled_from(seps) | _words(b"ab"))
    escape_char = draw(st.sampled_from([None, None, b"\\", b'"']))
    lineterminator = draw(st.sampled_from(line_ends) | _words(b"\n;"))
    comment = draw(st.sampled_from(comments) | _words(b"#/"))
    quote_char = draw(st.sampled_from([b'"', b'"', b"'"] if lenient else [b'"', b'"', b"'", None]))
    dialect = Dialect(
        sep=sep,
        quote_char=quote_char,
        escape_char=escape_char,
        comment=comment,
        lineterminator=lineterminator,
        **(MALFORMED_QUOTES_ARE_TEXT if lenient else {}),
    )
    for name in FLAGS:
        if name not in MALFORMED_QUOTES_ARE_TEXT:
            change = {name: draw(st.booleans())}
            dialect = replace(dialect, **change) if dialect.allows(**change) else dialect
    return dialect


def _words(alphabet: bytes) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(alphabet), min_size=1, max_size=8).map(bytes)


def texts(dialect: Dialect, max_tokens: int = 40) -> st.SearchStrategy[bytes]:
    """Generate texts of special bytes, delimiters and some content in any order, or well-formed tables."""
    whole = [part for part in (*_line_ends(dialect), *dialect.delimiters.values()) if part]
    if dialect.decodes_escapes:
        whole += [(dialect.escape_char or b"") + bytes([letter]) for letter in ESCAPE_LETTERS]
    single = [bytes([byte]) for byte in b"".join(whole)]
    # An incomplete delimiter, followed by a special text.
    begun = [part[:length] for part in whole for length in range(1, len(part))]
    broken = st.tuples(st.sampled_from(begun or whole), st.sampled_from(whole)).map(b"".join)
    tokens = st.sampled_from(whole) | st.sampled_from(single) | broken | st.sampled_from(_PLAIN)
    mixed = st.lists(tokens, max_size=max_tokens).map(b"".join)
    return mixed | well_formed_tables(dialect).map(lambda table: table.data)


@dataclass(frozen=True, slots=True)
class WellFormed:
    """A table as cells, and as written text."""

    rows: list[list[bytes]]
    data: bytes


def well_formed_tables(dialect: Dialect) -> st.SearchStrategy[WellFormed]:
    """Generate tables that `dialect` can represent, written so that reading returns the same cells.

    Without quotes and escapes cells hold plain bytes only. A sole empty cell, which would be a blank line, is quoted, or not
    made where there are no quotes.
    """
    return _well_formed_tables(dialect)


@st.composite
def _well_formed_tables(draw: st.DrawFn, dialect: Dialect) -> WellFormed:
    columns = draw(st.integers(1, 4))
    cells = _cells(dialect, min_size=1 if columns == 1 and dialect.quote_char is None else 0)
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), max_size=6))
    line_ends = _line_ends(dialect)
    data = b""
    for number, row in enumerate(rows, 1):
        data += dialect.sep.join([draw(_written(cell, columns == 1, dialect)) for cell in row])
        if number < len(rows) or draw(st.booleans()):
            data += draw(st.sampled_from(line_ends))
    return WellFormed(rows, data)


def _line_ends(dialect: Dialect) -> Sequence[bytes]:
    return (b"\n", b"\r\n", b"\r") if dialect.lineterminator is None else (dialect.lineterminator,)


def _special(dialect: Dialect) -> bytes:
    """Return the bytes that need quotes or escapes in a cell, including the space if initial spaces are skipped."""
    space = b" " if dialect.trims_fields else b""
    return b"".join((*dialect.delimiters.values(), space))


def _cells(dialect: Dialect, min_size: int) -> st.SearchStrategy[bytes]:
    special = _special(dialect)
    plain = [part for part in _PLAIN if not set(part) & set(special)]
    if dialect.escape_char is not None:
        writable = special
    elif dialect.quote_char is not None:
        writable = bytes(b for b in special if dialect.double_quote or b != dialect.quote_char[0])
    else:
        writable = b""
    parts = plain + [bytes([byte]) for byte in writable]
    return st.lists(st.sampled_from(parts), min_size=min_size, max_size=8).map(b"".join)


def _written(cell: bytes, sole: bool, dialect: Dialect) -> st.SearchStrategy[bytes]:
    """Generate the ways to write one cell: unquoted if that is safe, with escapes, or in quotes; padded if that is stripped."""
    special = _special(dialect)
    ways = []
    if not set(cell) & set(special) and not (sole and not cell):
        ways.append(cell)
    elif dialect.escape_char is not None and cell:
        ways.append(b"".join((dialect.escape_char if byte in special else b"") + bytes([byte]) for byte in cell))
    if dialect.quote_char is not None:
        ways.append(dialect.quote_char + _within_quotes(cell, dialect.quote_char, dialect) + dialect.quote_char)
    padded = [b" " + way + b"  " for way in ways if dialect.strip and not (sole and way == cell)]
    return st.sampled_from(ways + padded)


def _within_quotes(cell: bytes, quote: bytes, dialect: Dialect) -> bytes:
    if dialect.escape_char is not None:
        cell = cell.replace(dialect.escape_char, dialect.escape_char * 2)
    return cell.replace(quote, quote * 2 if dialect.double_quote else (dialect.escape_char or b"") + quote)
