"""`write_csv`: any Arrow table as delimited text that reads back the same, by several threads."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, Protocol, runtime_checkable

from headrace import _native
from headrace.core.context import Context
from headrace.core.errors import OptionError, SourceError
from headrace.export.target.atomic_file import final_path, moved_when_whole
from headrace.export.text.text_options import WriteOptions
from headrace.sources.kinds.file import checked_path
from headrace.sources.kinds.file_object import is_to_open, opened_anew


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

    The text does not depend on threads. Floats are the shortest text of the same bits (``1.0``, ``1e-07``, ``inf``), and every
    NaN is ``NaN``, without its sign and payload; timestamps ``2020-01-31 23:59:58.500``, those of a zone in UTC with ``Z`` at the
    end; durations ``1 days 02:03:04`` or ``-1 days +23:59:59`` (one second back), as Python and pandas write them; binary its
    bytes. Fractions of a second have all digits of the unit, or are left out where they are 0.

    A null is written as `null`, by default nothing; an empty text is ``""``. Quotes enclose text that holds a byte of the
    dialect, has a blank at an end or equals `null`, and what a reader would take for a comment or for a mark of the file.

    Parameters
    ----------
    table
        Anything with ``__arrow_c_stream__``: a table of headrace, PyArrow, Polars, pandas or DuckDB. Its batches are taken as
        they come and need not fit memory together. The index of a pandas frame is written if it has a name.
    path_or_file
        Where the text goes: a path, or a file object that takes bytes, also one of ``fsspec.open(url, "wb")``; None to have the
        text returned. A file at a path is written beside its place and moved there when it is whole.
    sep
        What separates fields, 1 to 8 bytes.
    header
        Whether the first record holds the names.
    quote_char
        What encloses fields that need it, and is doubled inside; None for ``quoting="none"``.
    quoting
        ``"minimal"``: where needed; ``"all"``: all but nulls; ``"none"``: never, and what needs them is an error.
    null
        Text of a null.
    line_end
        What ends each record, 1 to 8 bytes.
    comment
        What a reader will take for the beginning of a comment, so that no record begins with it.
    compression
        ``"gzip"``, ``"zstd"``, ``"bz2"``, ``"xz"`` or None; ``"infer"``: what the path's suffix says (``.gz``, ``.zst``,
        ``.bz2``, ``.xz``).
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
        An option has a wrong value; a column is nested or an interval; a value needs quotes and may not have them; a date or
        timestamp lies outside the years 0000 to 9999; a null that is alone in its row would leave a blank line, which readers
        skip.
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
    given: dict[str, object] = {
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
    options = WriteOptions.of(given, aliases, path_or_file)
    table = _without_unnamed_index(table)
    if not isinstance(table, ArrowStream):
        raise OptionError(f"table must be an Arrow table (an object with __arrow_c_stream__), not {type(table).__name__}")
    if path_or_file is None:
        return _to_bytes(table, options)
    if isinstance(path_or_file, str | os.PathLike):
        _to_path(table, final_path(checked_path(path_or_file, "path_or_file")), options)
    else:
        _to_file_object(table, path_or_file, options)
    return None


def _without_unnamed_index(table: Any) -> Any:
    """A pandas frame without the parts of its index that have no name. Its Arrow stream would call them ``__index_level_0__``."""
    if type(table).__module__.partition(".")[0] != "pandas" or not hasattr(table, "reset_index"):
        return table
    names = list(table.index.names)
    if None not in names:
        return table
    return table.reset_index(level=[level for level, name in enumerate(names) if name is None], drop=True)


def _writer(table: ArrowStream, options: WriteOptions) -> _native.CsvWriter:
    return _native.CsvWriter.make(table.__arrow_c_stream__(), options.text)


def _blocks(table: ArrowStream, options: WriteOptions) -> Iterator[bytes]:
    """The text in order, a few hundred KB each, a thread's worth of them at a time."""
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
    """All of a block; a file object that is not buffered may take a part at a time."""
    rest = block
    while rest:
        try:
            taken = file.write(rest)
        except TypeError as error:
            raise OptionError(f"path_or_file must accept bytes ({error}); open it in binary mode ('wb')") from None
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
