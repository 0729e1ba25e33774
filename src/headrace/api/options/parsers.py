"""Parses the value of one option: each parser takes the option's name, for error messages, and the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from headrace.columns.plan.load_run import Progress
from headrace.columns.records.data_range import header_indexes
from headrace.columns.schema import is_name
from headrace.core.errors import OptionError, shown
from headrace.core.options import choice, integer, texts

Parser = Callable[[str, Any], Any]

_MIN_INT63, _MAX_INT63 = -(2**62), 2**62 - 1
_REGULAR_EXPRESSION = re.compile(r"\\[A-Za-z]|\A\[.+\]")


def unchecked(_: str, value: object) -> object:
    """Return the value; a later step checks it, because it depends on the text or on other options."""
    return value


def or_none(parse: Parser) -> Parser:
    """Return a parser that also takes None."""
    return lambda name, value: None if value is None else parse(name, value)


def one_of(*valid: str) -> Parser:
    """Return a parser of one of a few texts."""
    return lambda name, value: choice(name, value, valid)


def count(name: str, value: object) -> int:
    """Parse an integer from 0 on."""
    return integer(name, value, "an integer from 0 on", 0)


def row_offset(name: str, value: object) -> int:
    """Parse the number of the first row, which may be negative."""
    return integer(name, value, "an integer of 64 bits", _MIN_INT63, _MAX_INT63)


def literal_text(name: str, value: object) -> object:
    """Refuse ``"auto"``, which other readers take for a request to look for the value. `Dialect` checks the rest."""
    if isinstance(value, str | bytes) and value in ("auto", b"auto"):
        raise OptionError(f"{name} is taken literally; to find how a text is written pass dialect='auto' in place of 'auto'")
    return value


def separator(name: str, value: object) -> object:
    """Refuse regular expressions, which pandas takes. `Dialect` checks the rest."""
    literal_text(name, value)
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(text, str) and _REGULAR_EXPRESSION.search(text):
        raise OptionError(
            f"{name} is taken literally, and {value!r} is a regular expression; pass the separator itself, such as ' ' or '\t'. "
            "To read runs of spaces, replace them first: re.sub(rb'[ \\t]+', b'\\t', text)"
        )
    return value


def header(_: str, value: object) -> object:
    """Return the indexes of the records that hold the names, as a tuple; any other value as it is."""
    indexes = header_indexes(value)
    return value if indexes is None else indexes


def number_mark(name: str, value: object) -> int:
    """Parse the decimal point or the thousands separator: the code of one ASCII character."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if not isinstance(text, str) or len(text) != 1 or not text.isascii() or not text.isprintable():
        raise OptionError.wrong(name, "one ASCII character that is no letter, digit or sign", value)
    if text.isalnum() or text in "+-":
        raise OptionError(f"{name} must be no letter, digit or sign, not {value!r}")
    return ord(text)


def null_texts(name: str, value: object) -> tuple[bytes, ...] | dict[object, tuple[bytes, ...]]:
    """Parse the texts that mean null: for all columns, or by column."""
    if isinstance(value, Mapping):
        return {column: texts(f"{name} of column {shown(column)}", own) for column, own in value.items()}
    return texts(name, value)


def index_name(name: str, value: object) -> str | None:
    """Parse the name of the row index; the empty text is a name too."""
    if not isinstance(value, str | None) or not is_name(value or ""):
        raise OptionError.wrong(name, "a text that UTF-8 can write, or None", value)
    return value


def path_column(name: str, value: object) -> str | None:
    """Parse the name of the column of paths; True means ``"filename"``, as in DuckDB."""
    if isinstance(value, bool):
        return "filename" if value else None
    if not isinstance(value, str | None) or value == "" or not is_name(value or ""):
        raise OptionError.wrong(name, "the name of a column or None", value)
    return value


def flag_or_auto(name: str, value: object) -> bool | None:
    """Parse True, False or ``"auto"``, which is None."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value == "auto":
        return None
    raise OptionError.unknown(name, value, ("auto", "True", "False"))


def progress(name: str, value: object) -> Progress:
    """Check that the value can be called."""
    if not callable(value):
        raise OptionError.wrong(name, "a function of two numbers (bytes done, bytes in all)", value)
    return value
