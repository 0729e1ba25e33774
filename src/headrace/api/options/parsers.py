"""Parses the value of one option: each parser takes the option's name, for error messages, and the value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from headrace.api.options.keywords import AUTO
from headrace.columns.plan.load_run import Progress
from headrace.columns.records.data_range import header_indexes
from headrace.columns.schema import is_name
from headrace.core.errors import OptionError, shown
from headrace.core.options import choice, integer, texts
from headrace.sources.compression.formats import COMPRESSIONS

Parser = Callable[[str, Any], Any]

_MIN_INT63, _MAX_INT63 = -(2**62), 2**62 - 1
_ESCAPED_ENDS = {"\\n": "\n", "\\r": "\r", "\\r\\n": "\r\n"}
_COMPRESSION_ALIASES = {"auto": "infer", "gz": "gzip", "zst": "zstd", "zstandard": "zstd"}
_REGULAR_EXPRESSION = re.compile(r"\\[A-Za-z]|\A\[.+\]")


def unchecked(_: str, value: object) -> object:
    """Return the value; a later step checks it, because it depends on the text or on other options."""
    return value


def or_none(parse: Parser) -> Parser:
    """Return a parser that also takes None."""
    return lambda name, value: None if value is None else parse(name, value)


def or_default(parse: Parser, default: object) -> Parser:
    """Return a parser that takes None for the default, as other readers write it; `default` is as `parse` returns it."""
    return lambda name, value: default if value is None else parse(name, value)


def one_of(*valid: str) -> Parser:
    """Return a parser of one of a few texts."""
    return lambda name, value: choice(name, value, valid)


def dialect_word(name: str, value: object) -> str:
    """Parse ``"auto"``; other dialects are options, which have been taken by now (`translate.expand`)."""
    if not isinstance(value, str):
        raise OptionError.wrong(name, "'auto', a Dialect, or a dialect of Python's csv", value)
    if value != "auto":
        import csv  # seldom needed

        raise OptionError.unknown(name, value, ["auto", *csv.list_dialects()])
    return value


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


def optional_byte(name: str, value: object) -> object:
    """Return None for no quote or escape, which is also written as the empty text (Polars) or False (PyArrow)."""
    return None if value is False or (isinstance(value, str | bytes) and not value) else literal_text(name, value)


def line_terminator(name: str, value: object) -> object:
    r"""Replace the escapes ``\n``, ``\r`` and ``\r\n``, which DuckDB takes, by what they stand for."""
    literal_text(name, value)
    return _ESCAPED_ENDS.get(value, value) if isinstance(value, str) else value


def lines_to_skip(name: str, value: object) -> int:
    """Parse a number of lines; the first indexes 0, 1, ... are such a number too."""
    if callable(value):
        raise OptionError(f"{name} is a number of lines, and no function; filter the rows after the read")
    if isinstance(value, list | range) and value and list(value) == list(range(len(value))):
        return len(value)
    if isinstance(value, list | range | set | frozenset):
        raise OptionError(f"{name} is the number of lines before the header, not {shown(value)}; filter the rows after the read")
    return count(name, value)


def compression(name: str, value: object) -> str | None:
    """Parse the name of a compression, also as pandas and DuckDB write it."""
    if isinstance(value, Mapping) and "method" in value:
        value = value["method"]
    if value is None or (isinstance(value, str) and value in ("none", "uncompressed")):
        return None
    if isinstance(value, str) and value in _COMPRESSION_ALIASES:
        return _COMPRESSION_ALIASES[value]
    return choice(name, value, (*COMPRESSIONS, "infer"))


def columns(name: str, value: object) -> object:
    """Refuse a function that selects names, which pandas takes. `plan_columns` checks the rest."""
    if callable(value):
        names = "[name for name in sniff_csv(source).schema if wanted(name)]"
        raise OptionError(f"{name} holds names or positions, and no function; pass {names}")
    return value


def dtypes(_: str, value: object) -> object:
    """Return types by name or position; a list is by position, as in DuckDB."""
    types = field_types("dtypes", value)
    return dict(enumerate(types)) if isinstance(types, list | tuple) else types


def field_types(name: str, value: object) -> object:
    """Return a PyArrow schema, or a list of its fields, as a mapping of names to types; any other value as it is."""
    is_schema = type(value).__name__ == "Schema" and type(value).__module__.partition(".")[0] == "pyarrow"
    fields: list[Any] = list(value) if is_schema or isinstance(value, list | tuple) else []  # type: ignore[call-overload]
    if not is_schema and not (fields and all(hasattr(one, "name") and hasattr(one, "type") for one in fields)):
        return value
    types = {field.name: field.type for field in fields}
    if len(types) != len(fields):
        raise OptionError(f"{name} has two fields of the same name")
    return types


def date_format(name: str, value: object) -> object:
    """Return formats without the names of ISO 8601, which is the default. `date_options` checks the rest."""
    if isinstance(value, str) and value == "mixed":
        raise OptionError(f"{name}: a column has one format; pass several to find it, such as ['%d.%m.%Y', '%Y-%m-%d']")
    if _is_iso(value):
        return None
    if isinstance(value, list | tuple) and any(map(_is_iso, value)):
        if all(map(_is_iso, value)):
            return None
        raise OptionError(
            f"{name} replaces ISO 8601, so it cannot be one of several; write it as '%Y-%m-%d' or '%Y-%m-%d %H:%M:%S'"
        )
    return value


def _is_iso(value: object) -> bool:
    return (isinstance(value, str) and value.upper() == "ISO8601") or type(value).__name__ == "_ISO8601"


def separator(name: str, value: object) -> object:
    """Refuse regular expressions and None, which pandas takes. `Dialect` checks the rest."""
    if value is None:
        raise OptionError(f"{name}=None: pass dialect='auto' to find the separator")
    literal_text(name, value)
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(text, str) and _REGULAR_EXPRESSION.search(text):
        raise OptionError(
            f"{name} is taken literally, and {value!r} is a regular expression; pass the separator itself, such as ' ' or '\\t'. "
            "To read runs of spaces, replace them first: re.sub(rb'[ \\t]+', b'\\t', text)"
        )
    return value


def header(_: str, value: object) -> object:
    """Return the indexes of the records that hold the names, as a tuple; False for None; any other value as it is."""
    if value is None:
        return False
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


def null_texts(name: str, value: object) -> str | tuple[bytes, ...] | dict[object, tuple[bytes, ...]]:
    """Parse the texts that mean null: for all columns, or by column. Numbers are taken as Python writes them.

    ``"auto"`` remains as it is.
    """
    if isinstance(value, str) and value == AUTO:
        return AUTO
    if isinstance(value, Mapping):
        return {column: texts(f"{name} of column {shown(column)}", _written(own)) for column, own in value.items()}
    return texts(name, _written(value))


def _written(value: object) -> object:
    """Return a value, or those in a list, with numbers as texts."""
    if isinstance(value, list | tuple | set | frozenset):
        return [_written(one) if isinstance(one, int | float) else one for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return str(value) if is_number else value


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
