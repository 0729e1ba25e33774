"""`write_csv`: any Arrow table as delimited text that reads back the same, by several threads."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from headrace import _native
from headrace.core.context import Context
from headrace.core.errors import OptionError, SourceError
from headrace.core.options import Given, resolve_aliases
from headrace.export.compress import Compression, compression_of
from headrace.export.whole_file import final_path, moved_when_whole
from headrace.structure.dialect import Dialect


@runtime_checkable
class ArrowStream(Protocol):
    """A table that any Arrow library takes: ours, PyArrow's, Polars', DuckDB's."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Capsule of an ``ArrowArrayStream``."""


@runtime_checkable
class Writable(Protocol):
    """A file object that takes bytes: what ``open(path, "wb")``, `io.BytesIO` or a socket's `makefile` give."""

    def write(self, data: bytes, /) -> object:
        """Take bytes; give the number taken, or None for all."""


ALIASES = {
    "delimiter": "sep",
    "separator": "sep",
    "delim": "sep",
    "include_header": "header",
    "quotechar": "quote_char",
    "quote_style": "quoting",
    "quoting_style": "quoting",
    "na_rep": "null",
    "null_value": "null",
    "null_values": "null",
    "lineterminator": "line_end",
    "line_terminator": "line_end",
    "eol": "line_end",
}
"""What other writers call an option, and what it is called here."""

_DEFAULTS: dict[str, object] = {
    "sep": ",",
    "header": True,
    "quote_char": '"',
    "quoting": "minimal",
    "null": "",
    "line_end": "\n",
    "comment": None,
    "compression": "infer",
    "context": None,
    "threads": None,
}


def write_csv(
    table: ArrowStream,
    path_or_file: str | os.PathLike[str] | Writable | None = None,
    *,
    sep: str | bytes = ",",
    header: bool = True,
    quote_char: str | bytes | None = '"',
    quoting: Literal["minimal", "all", "none"] = "minimal",
    null: str | bytes = "",
    line_end: str | bytes = "\n",
    comment: str | bytes | None = None,
    compression: Literal["infer", "gzip", "zstd", "bz2", "xz"] | None = "infer",
    context: Context | None = None,
    threads: int | None = None,
    **aliases: object,
) -> bytes | None:
    r"""Write a table as delimited text that `read_csv`, told the types, reads back to the same bits.

    The text does not depend on threads. Floats are the shortest text of the same bits (``1.0``, ``1e-07``, ``NaN``, ``inf``);
    timestamps ``2020-01-31 23:59:58.5``, those of a zone in UTC with ``Z`` behind; durations ``-1 days 02:03:04``; binary its bytes. Fractions of a
    second have all digits of the unit, or are left out where they are 0. A year that has no four digits gets a sign.

    A null is written as `null`, by default nothing; an empty text is ``""``. Quotes enclose text that holds a byte of the dialect,
    text with spaces around it, text that equals `null`, and what a reader would take for a comment or for a mark of the file.

    Parameters
    ----------
    table
        Anything with ``__arrow_c_stream__``: a table of headrace, PyArrow, Polars, pandas or DuckDB. Its batches are taken as they
        come and need not fit memory together.
    path_or_file
        Where the text goes: a path, or a file object that takes bytes; None to have the text returned. A file at a path is written beside its
        place and moved there when it is whole.
    sep
        What separates fields, 1 to 8 bytes.
    header
        Whether the first record holds the names.
    quote_char
        What encloses fields that need it, and is doubled inside; None for ``quoting="none"``.
    quoting
        ``"minimal"``: where needed; ``"all"``: all but nulls; ``"none"``: never, and what would not read back without is an error.
    null
        Text of a null.
    line_end
        What ends each record, 1 to 8 bytes.
    comment
        What a reader will take for the beginning of a comment, so that no record begins with it.
    compression
        ``"gzip"``, ``"zstd"``, ``"bz2"``, ``"xz"`` or None; ``"infer"``: what the path's suffix says (``.gz``, ``.zst``, ``.bz2``, ``.xz``).
    context
        Threads that the call may use.
    threads
        At most so many threads; instead of those of `context`.
    **aliases
        Names that other writers use: ``delimiter``, ``na_rep``, ``lineterminator``, ...

    Returns
    -------
    bytes or None
        The text, if `path_or_file` is None.

    Raises
    ------
    OptionError
        An option has a wrong value; a column is nested or an interval; a value cannot be written so that it reads back: without quotes, or a null that
        would leave a blank line as it is alone in its row.
    MissingDependencyError
        The compression needs a package.
    SourceError
        The table's stream fails.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import headrace
    >>> table = headrace.read_csv(b'a,b\n1,"x,y"\n2,\n', dtypes={"a": float})
    >>> headrace.write_csv(table)
    b'a,b\n1.0,"x,y"\n2.0,\n'
    """
    given = {
        "sep": sep,
        "header": header,
        "quote_char": quote_char,
        "quoting": quoting,
        "null": null,
        "line_end": line_end,
        "comment": comment,
        "compression": compression,
        "context": context,
        "threads": threads,
    }
    options = _Options.of(resolve_aliases(given, aliases, ALIASES, _DEFAULTS), path_or_file)
    if not isinstance(table, ArrowStream):
        raise OptionError(f"table must have __arrow_c_stream__, as Arrow tables have, which {type(table).__name__} has not")
    if path_or_file is None:
        return _to_bytes(table, options)
    if isinstance(path_or_file, str | os.PathLike):
        _to_path(table, final_path(path_or_file), options)
    else:
        _to_file_object(table, path_or_file, options)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How the text is written; all texts are bytes.

    Parameters
    ----------
    sep, line_end, null
        As for `write_csv`.
    comment, quote
        As for `write_csv`; empty for none.
    quoting
        ``"minimal"``, ``"all"`` or ``"none"``.
    header
        Whether the names come first.
    """

    sep: bytes
    line_end: bytes
    null: bytes
    comment: bytes
    quote: bytes
    quoting: str
    header: bool


@dataclass(frozen=True, slots=True)
class _Options:
    """All that a call was told, checked."""

    text: TextOptions
    compression: Compression | None
    threads: int

    @classmethod
    def of(cls, values: dict[str, object], target: object) -> _Options:
        given = Given(values)
        context = Context() if values["context"] is None else given.instance("context", Context)
        if (threads := given.count("threads")) is not None:
            context = replace(context, threads=threads)
        return cls(_text_options(values, given), compression_of(values["compression"], target), context.thread_count)


def _text_options(values: dict[str, object], given: Given) -> TextOptions:
    line_end = given.text("line_end")
    dialect = Dialect(
        sep=values["sep"],  # type: ignore[arg-type]
        quote=values["quote_char"],  # type: ignore[arg-type]
        comment=values["comment"],  # type: ignore[arg-type]
        line_end=None if line_end in (b"\n", b"\r\n", b"\r") else line_end,
    )
    quoting = given.choice("quoting", ("minimal", "all", "none"))
    if dialect.quote is None and quoting == "all":
        raise OptionError("quoting='all' needs a quote_char")
    options = TextOptions(
        sep=dialect.sep,
        line_end=line_end,
        null=given.text("null"),
        comment=dialect.comment or b"",
        quote=dialect.quote or b"",
        quoting="none" if dialect.quote is None else quoting,
        header=given.flag("header"),
    )
    special = set(options.sep + options.line_end + options.quote + b"\r\n")
    if (shared := special & set(options.null)) or (options.comment and options.null.startswith(options.comment)):
        what = repr(bytes(sorted(shared)[:1])) if shared else "the comment's beginning"
        raise OptionError(f"null={options.null.decode(errors='replace')!r} holds {what}, which means something else in this text")
    return options


def _writer(table: ArrowStream, options: _Options) -> _native.CsvWriter:
    return _native.CsvWriter.make(table.__arrow_c_stream__(), options.text)


def _blocks(table: ArrowStream, options: _Options) -> Iterator[bytes]:
    """The text in order, a few hundred KB each, a thread's worth of them at a time."""
    with _Faults():
        writer = _writer(table, options)
        while blocks := writer.next_blocks(options.threads):
            yield from blocks


def _to_bytes(table: ArrowStream, options: _Options) -> bytes:
    if options.compression is None:
        with _Faults():
            return _writer(table, options).write_to_bytes(options.threads)
    return b"".join(options.compression.compressed(_blocks(table, options), options.threads))


def _to_path(table: ArrowStream, target: os.PathLike[str], options: _Options) -> None:
    with moved_when_whole(final_path(target)) as temporary, temporary.open("wb", buffering=0) as file:
        if options.compression is not None:
            _to_file_object(table, file, options)
            return
        try:
            with _Faults():
                _writer(table, options).write_to_file(file.fileno(), options.threads)
        except OSError as error:
            if error.errno is None:
                raise
            raise OSError(error.errno, error.strerror, os.fspath(target)) from None


def _to_file_object(table: ArrowStream, file: object, options: _Options) -> None:
    if not isinstance(file, Writable):
        raise OptionError(f"path_or_file must be a path, a file object that takes bytes, or None, not {type(file).__name__}")
    blocks = _blocks(table, options)
    for block in blocks if options.compression is None else options.compression.compressed(blocks, options.threads):
        _write_whole(file, block)


def _write_whole(file: Writable, block: bytes) -> None:
    """All of a block; a file object that is not buffered may take a part at a time."""
    rest = block
    while rest:
        try:
            taken = file.write(rest)
        except TypeError as error:
            raise OptionError(f"the file object takes no bytes ({error}); open it in binary mode, 'wb'") from None
        if not isinstance(taken, int):
            return
        if not 0 < taken <= len(rest):
            raise OSError(errno.EIO, f"the file object took {taken} of {len(rest)} bytes")
        rest = rest[taken:]


class _Faults:
    """What the native part raises, as this package's errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is ValueError:
            raise OptionError(str(error)) from None
        if isinstance(error, _native.StreamFailure):
            raise SourceError(str(error)) from None
