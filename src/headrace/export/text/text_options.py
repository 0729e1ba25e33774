"""Validates the options of `write_csv`, also under the names that other writers use."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from headrace.core.context import context_of
from headrace.core.errors import OptionError, shown
from headrace.core.options import Given, flag, resolve_aliases
from headrace.export.target.compression import OutputCompression, compression_of
from headrace.structure.dialect import (
    ESCAPE_LETTERS,
    MAX_SEP_BYTES,
    Dialect,
    as_bytes,
    check_distinct_bytes,
    check_effect,
    check_no_letters,
)

ALIASES = {
    "delimiter": "sep",
    "separator": "sep",
    "delim": "sep",
    "include_header": "header",
    "quotechar": "quote_char",
    "quote": "quote_char",
    "quote_style": "quoting",
    "quoting_style": "quoting",
    "escapechar": "escape_char",
    "escape": "escape_char",
    "na_rep": "null",
    "null_value": "null",
    "null_values": "null",
    "nullstr": "null",
    "lineterminator": "line_end",
    "line_terminator": "line_end",
    "eol": "line_end",
}  # option by the name that other writers use

_CONVERTED = "convert the column to texts before it is written"
_ELSEWHERE = {
    "columns": "select the columns of the table first: table[['a', 'b']]",
    "mode": "pass an open file: open(path, 'ab')",
    "encoding": "the text is in UTF-8; pass no path, and encode the result",
    "index_label": "name the index of the frame: frame.rename_axis('name')",
    "storage_options": "pass fsspec.open(url, 'wb', **storage_options) as the file",
    "decimal": f"the decimal point is '.'; {_CONVERTED}",
    "decimal_comma": f"the decimal point is '.'; {_CONVERTED}",
    **dict.fromkeys(
        ("float_format", "float_precision", "float_scientific"), f"floats are the shortest text of the same bits; {_CONVERTED}"
    ),
    **dict.fromkeys(
        ("date_format", "datetime_format", "time_format", "dateformat", "timestampformat"), f"times are in ISO 8601; {_CONVERTED}"
    ),
    "force_quote": "pass quoting='all', which quotes all fields but nulls",
    "quoting_header": "names are quoted as texts are",
    "include_bom": "write the mark to an open file first: file.write(codecs.BOM_UTF8)",
    "partition_by": "write each part of the table: table.filter(...)",
    **dict.fromkeys(
        ("chunksize", "batch_size", "doublequote", "errors", "overwrite", "use_tmp_file"), "remove it: it changes nothing here"
    ),
}  # options that other writers have, and what to do instead

_QUOTING = {
    **dict.fromkeys((csv.QUOTE_MINIMAL, "necessary", "needed"), "minimal"),
    **dict.fromkeys((csv.QUOTE_ALL, "always", "all_valid", 5), "all"),
    **dict.fromkeys((csv.QUOTE_NONE, "never"), "none"),
}  # values of `quoting` by those of Python's `csv`, Polars and PyArrow; 5 is QUOTE_NOTNULL of Python 3.12
_QUOTES_TEXTS = (csv.QUOTE_NONNUMERIC, "non_numeric", 4)
"""Values that stand for quotes around texts alone; 4 is QUOTE_STRINGS of Python 3.12."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """The format of the text, by options of `write_csv`; strings are bytes, empty for none."""

    sep: bytes
    line_end: bytes
    null: bytes
    comment: bytes
    quote: bytes
    quoting: str  # `"minimal"`, `"all"` or `"none"`
    escape: bytes
    escape_sequences: bool
    header: bool
    plain_nan: bool


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The validated options of a call of `write_csv`."""

    text: TextOptions
    compression: OutputCompression | None  # compression format; None for no compression
    threads: int  # largest number of threads

    @classmethod
    def of(
        cls, given: dict[str, object], aliases: Mapping[str, object], defaults: Mapping[str, object], path_or_file: object
    ) -> WriteOptions:
        """Return the options, given by name or by the names that other writers use.

        Raise OptionError if a value is invalid, or two options contradict each other.
        """
        for name in aliases:
            if name in _ELSEWHERE:
                raise OptionError(f"write_csv has no {name}: {_ELSEWHERE[name]}")
        values = resolve_aliases(given, aliases, ALIASES, defaults)
        values["quoting"] = _quoting(values["quoting"])
        checked = Given(values)
        context = context_of(values["context"])
        if (threads := checked.count("threads")) is not None:
            context = replace(context, threads=threads)
        return cls(_text_options(values, checked), compression_of(values["compression"], path_or_file), context.thread_count)


def _quoting(value: object) -> object:
    """Return a value of `quoting` as one of this package, if other writers have it."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return value
    if value in _QUOTES_TEXTS:
        raise OptionError(f"quoting={shown(value)} quotes texts alone; pass 'all' for quotes around numbers too, or 'minimal'")
    return _QUOTING.get(value, value)


_USUAL_LINE_ENDS = (b"\n", b"\r\n", b"\r")


def _dialect(values: Mapping[str, object], line_end: bytes) -> Dialect:
    """Return the dialect that the text is written in; its errors name the options of `write_csv`."""
    line_end = as_bytes("line_end", line_end, MAX_SEP_BYTES)
    is_usual = line_end in _USUAL_LINE_ENDS
    sep = as_bytes("sep", values["sep"], MAX_SEP_BYTES)
    quote_char = None if values["quote_char"] is None else as_bytes("quote_char", values["quote_char"], 1)
    escape_char = None if values["escape_char"] is None else as_bytes("escape_char", values["escape_char"], 1)
    comment = None if values["comment"] is None else as_bytes("comment", values["comment"], MAX_SEP_BYTES)
    roles = {"sep": sep, "quote_char": quote_char or b"", "comment": comment or b""}
    roles["escape_char"] = b"" if escape_char in (None, quote_char) else escape_char
    roles["line_end"] = b"\r\n" if is_usual else line_end
    check_distinct_bytes(roles)
    if escape_sequences := flag("escape_sequences", values["escape_sequences"]):
        check_no_letters(roles)
    return Dialect(
        sep=sep,
        quote_char=quote_char,
        escape_char=escape_char,
        escape_sequences=escape_sequences,
        comment=comment,
        lineterminator=None if is_usual else line_end,
    )


def _is_whole(null: bytes, options: TextOptions) -> bool:
    r"""Return whether no escape of a null text means the byte after the text, or is a sequence: ``\N`` is whole."""
    if not options.escape:
        return True
    escape = re.escape(options.escape)
    others = re.escape(options.comment[:1] + (ESCAPE_LETTERS if options.escape_sequences else b""))
    return re.fullmatch(b"(?:[^" + escape + b"]|" + escape + b"[^" + others + escape + b"])*", null, re.DOTALL) is not None


def _text_options(values: dict[str, object], given: Given) -> TextOptions:
    line_end = given.text("line_end")
    dialect = _dialect(values, line_end)
    quoting = given.choice("quoting", ("minimal", "all", "none"))
    if dialect.quote_char is None and quoting == "all":
        raise OptionError("quoting='all' needs a quote_char")
    quoting = "none" if dialect.quote_char is None else quoting
    if dialect.escape_char is not None and quoting != "none":
        raise OptionError("escape_char needs quoting='none'; in quotes, a quote is doubled")
    check_effect(values, dialect)
    options = TextOptions(
        sep=dialect.sep,
        line_end=line_end,
        null=given.text("null"),
        comment=dialect.comment or b"",
        quote=dialect.quote_char or b"",
        quoting=quoting,
        escape=dialect.escape_char or b"",
        escape_sequences=dialect.escape_sequences,
        header=given.flag("header"),
        plain_nan=given.flag("plain_nan"),
    )
    if not _is_whole(options.null, options):
        raise OptionError(
            f"null={shown(options.null.decode(errors='replace'))} has an escape that has another meaning in this text"
        )
    special = set(options.sep + options.line_end + options.quote + b"\r\n")
    if (shared := special & set(options.null)) or (options.comment and options.null.startswith(options.comment)):
        what = repr(bytes(sorted(shared)[:1])) if shared else "the beginning of a comment"
        null = shown(options.null.decode(errors="replace"))
        raise OptionError(f"null={null} contains {what}, which has another meaning in this text")

    return options
