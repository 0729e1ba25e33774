"""Defines `write_csv`, which writes any Arrow table as delimited text that reads back the same, on several threads."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, Protocol, overload, runtime_checkable

from headrace import _native
from headrace.core.context import Context
from headrace.core.errors import OptionError, SourceError
from headrace.core.foreign_names import way_to_table
from headrace.core.options import flag, single_names
from headrace.export.arrow.from_arrow import exported_stream
from headrace.export.target.atomic_file import final_path, moved_when_whole
from headrace.export.text.text_options import ALIASES, WriteOptions
from headrace.sources.kinds.file import checked_path
from headrace.sources.kinds.file_object import is_to_open, opened_anew


@runtime_checkable
class ArrowStream(Protocol):
    """A table with an Arrow stream: of headrace, PyArrow, Polars or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule of an ``ArrowArrayStream``."""


@runtime_checkable
class Writable(Protocol):
    """A file object that accepts bytes: the result of ``open(path, "wb")``, `io.BytesIO` or a socket's `makefile`."""

    def write(self, data: bytes, /) -> object:
        """Write bytes; return the number written, or None for all."""


@overload
def write_csv(
    table: ArrowStream,
    path_or_file: None = None,
    *,
    sep: str | bytes = ...,
    header: bool = ...,
    quote_char: str | bytes | None = ...,
    quoting: Literal["minimal", "all", "none"] = ...,
    escape_char: str | bytes | None = ...,
    escape_sequences: bool = ...,
    null: str | bytes = ...,
    line_end: str | bytes = ...,
    comment: str | bytes | None = ...,
    plain_nan: bool = ...,
    compression: Literal["infer", "gzip", "zstd", "bz2", "xz"] | None = ...,
    context: Context | None = ...,
    threads: int | None = ...,
    **aliases: object,
) -> bytes: ...
@overload
def write_csv(
    table: ArrowStream,
    path_or_file: str | os.PathLike[str] | Writable,
    *,
    sep: str | bytes = ...,
    header: bool = ...,
    quote_char: str | bytes | None = ...,
    quoting: Literal["minimal", "all", "none"] = ...,
    escape_char: str | bytes | None = ...,
    escape_sequences: bool = ...,
    null: str | bytes = ...,
    line_end: str | bytes = ...,
    comment: str | bytes | None = ...,
    plain_nan: bool = ...,
    compression: Literal["infer", "gzip", "zstd", "bz2", "xz"] | None = ...,
    context: Context | None = ...,
    threads: int | None = ...,
    **aliases: object,
) -> None: ...
@single_names(ALIASES, ("quote_char",))
def write_csv(
    table: ArrowStream,
    path_or_file: str | os.PathLike[str] | Writable | None = None,
    *,
    sep: str | bytes = ",",
    header: bool = True,
    quote_char: str | bytes | None = '"',
    quoting: Literal["minimal", "all", "none"] = "minimal",
    escape_char: str | bytes | None = None,
    escape_sequences: bool = False,
    null: str | bytes = "",
    line_end: str | bytes = "\n",
    comment: str | bytes | None = None,
    plain_nan: bool = False,
    compression: Literal["infer", "gzip", "zstd", "bz2", "xz"] | None = "infer",
    context: Context | None = None,
    threads: int | None = None,
    **aliases: object,
) -> bytes | None:
    r"""Write a table as delimited text that `read_csv`, given the types, reads back to the same bits.

    The text does not depend on the number of threads. Floats are written as the shortest text of the same bits (``1.0``,
    ``1e-07``, ``inf``). A NaN is ``NaN``, or ``-NaN`` with a sign. A payload is written as ``NaN(0x7)``, or ``sNaN(0x7)`` of a
    signaling NaN; `read_csv` reads it in columns whose type is given. Timestamps are ``2020-01-31 23:59:58.500``; those
    with a zone are in UTC and end with ``Z``. Durations are ``1 days 02:03:04``, or ``-1 days +23:59:59`` for minus one second,
    as Python and pandas write them. Binary values are written as their bytes. Fractions of a second have all digits of the unit,
    and are omitted if they are 0.

    A null is written as `null`, by default nothing; an empty string is ``""``. A string is quoted if it contains a byte of the
    dialect, begins or ends with a blank, or equals `null`. It is also quoted where a reader would mistake it for a comment or for
    the mark of a file format.

    Parameters
    ----------
    table
        Anything with ``__arrow_c_stream__``: a table of headrace, PyArrow, Polars, pandas or DuckDB. Its batches are written one
        by one, and need not fit in memory together. The index of a pandas frame is written if it has a name.
    path_or_file
        A path, or a file object that accepts bytes, such as that of ``fsspec.open(url, "wb")``; None to return the text. A file
        is written under another name in the same folder and renamed when it is complete.
    sep
        Separator of fields, 1 to 8 bytes.
    header
        Whether the first record contains the names.
    quote_char
        Quoting character, doubled inside a quoted field; None for ``quoting="none"``.
    quoting
        ``"minimal"``: only where needed; ``"all"``: every field except nulls; ``"none"``: never, and a field that needs quotes
        is an error, unless there is an `escape_char`. Values of Python's `csv`, Polars and PyArrow are accepted.
    escape_char
        With ``quoting="none"``, the character before each byte that needs quotes otherwise; None for none. An empty text that
        needs quotes is an error still.
    escape_sequences
        Whether a letter follows the escape in place of a tab, a line end or another control character: ``\n`` for a line feed.
        Then ``sep="\t", quote_char=None, escape_char="\\", null="\\N"`` is the text format of PostgreSQL's COPY.
    null
        Text of a null.
    line_end
        Line end after each record, 1 to 8 bytes.
    comment
        Comment prefix of the reader; no record is written so that it begins with it.
    plain_nan
        Whether every NaN is ``NaN``, without its sign and payload. PyArrow and DuckDB read ``NaN(0x7)``; pandas and Polars take
        it for text. GPUs make 32-bit NaNs with a payload.
    compression
        ``"gzip"``, ``"zstd"``, ``"bz2"``, ``"xz"`` or None; ``"infer"``: by the path's suffix (``.gz``, ``.zst``, ``.bz2``,
        ``.xz``).
    context
        Context of the call, which gives the number of threads.
    threads
        Largest number of threads; replaces that of `context`.
    **aliases
        Names that other writers use: ``delimiter``, ``na_rep``, ``lineterminator``, ``nullstr``, ... With ``index=False``
        the index of a pandas frame is not written if it has a name, either.

    Returns
    -------
    bytes or None
        The text, if `path_or_file` is None.

    Raises
    ------
    OptionError
        An option has an invalid value. A column is nested or an interval. A value needs quotes and ``quoting="none"``. A date or
        timestamp is outside the years 0000 to 9999, or a time outside a day. A null that is the only field of its row would be a
        blank line, which readers skip.
    MissingDependencyError
        The compression needs a package.
    SourceError
        The table's stream fails.
    MemoryLimitError
        The system refuses memory to the call or to the table's stream.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import headrace
    >>> table = headrace.read_csv(b'a,b\n1,"x,y"\n2,\n', dtypes={"a": float})
    >>> headrace.write_csv(table)
    b'a,b\n1.0,"x,y"\n2.0,\n'
    """
    given: dict[str, object] = {
        "sep": sep,
        "header": header,
        "quote_char": quote_char,
        "quoting": quoting,
        "escape_char": escape_char,
        "escape_sequences": escape_sequences,
        "null": null,
        "line_end": line_end,
        "comment": comment,
        "plain_nan": plain_nan,
        "compression": compression,
        "context": context,
        "threads": threads,
    }
    index = flag("index", aliases.pop("index", True))
    options = WriteOptions.of(given, aliases, write_csv.__kwdefaults__ or {}, path_or_file)
    table = _without_index(table, named=index)
    if not isinstance(table, ArrowStream):
        raise OptionError(
            f"table must be an Arrow table (an object with __arrow_c_stream__), not {type(table).__name__}{way_to_table(table)}"
        )
    if path_or_file is None:
        return _to_bytes(table, options)
    if isinstance(path_or_file, str | os.PathLike):
        _to_path(table, final_path(checked_path(path_or_file, "path_or_file")), options)
    else:
        _to_file_object(table, path_or_file, options)
    return None


def _without_index(table: Any, *, named: bool) -> Any:
    """Return a pandas frame without unnamed index levels, which its Arrow stream would call ``__index_level_0__``.

    `table`: any table. `named`: whether index levels with a name are kept.
    """
    if type(table).__module__.partition(".")[0] != "pandas" or not hasattr(table, "reset_index"):
        return table
    names = list(table.index.names) if named else [None] * table.index.nlevels
    if None not in names:
        return table
    return table.reset_index(level=[level for level, name in enumerate(names) if name is None], drop=True)


def _writer(table: ArrowStream, options: WriteOptions) -> _native.CsvWriter:
    return _native.CsvWriter.make(exported_stream(table), options.text)


def _blocks(table: ArrowStream, options: WriteOptions) -> Iterator[bytes]:
    """Yield the text in order, in blocks of a few hundred KB; one block a thread is made at a time."""
    with _Faults():
        writer = _writer(table, options)
        while blocks := writer.next_blocks(options.threads):
            yield from blocks


def _to_bytes(table: ArrowStream, options: WriteOptions) -> bytes:
    if options.compression is None:
        with _Faults():
            return _writer(table, options).write_to_bytes(options.threads)
    return b"".join(options.compression.compressed(_blocks(table, options), options.threads))


def _to_path(table: ArrowStream, target: os.PathLike[str], options: WriteOptions) -> None:
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


def _to_file_object(table: ArrowStream, file: object, options: WriteOptions) -> None:
    if is_to_open(file):
        with opened_anew(file) as stream:
            _to_file_object(table, stream, options)
        return
    if not isinstance(file, Writable) or isinstance(file, type | ModuleType):
        raise OptionError.wrong("path_or_file", "a path, a file object that accepts bytes, or None", file)
    if getattr(file, "closed", False) is True:
        raise OptionError("path_or_file is a file object that is closed; open it again, or pass its path")
    blocks = _blocks(table, options)
    for block in blocks if options.compression is None else options.compression.compressed(blocks, options.threads):
        _write_whole(file, block)


def _write_whole(file: Writable, block: bytes) -> None:
    """Write all of a block; an unbuffered file object may accept a part at a time."""
    rest = block
    while rest:
        try:
            written = file.write(rest)
        except TypeError as error:
            raise OptionError(f"path_or_file must accept bytes ({error}); open it in binary mode ('wb')") from error
        if not isinstance(written, int):
            return
        if not 0 < written <= len(rest):
            raise OSError(errno.EIO, f"the file object wrote {written} of {len(rest)} bytes")
        rest = rest[written:]


class _Faults:
    """Translates exceptions of the native part to errors of this package."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is ValueError:
            raise OptionError(str(error)) from None
        if isinstance(error, _native.StreamFailure):
            raise SourceError(str(error)) from None
