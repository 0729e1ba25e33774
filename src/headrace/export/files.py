"""Writes tables to files, atomically: a reader finds either the whole file or what was there before."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from headrace.core.errors import MissingDependencyError, OptionError, shown
from headrace.export.target.atomic_file import final_path, moved_when_whole
from headrace.export.target.compression import COMPRESSED
from headrace.export.text.write_csv import ArrowStream, write_csv
from headrace.sources.kinds.file import checked_path, is_path


def write_table(table: ArrowStream, path: str | os.PathLike[str]) -> None:
    """Write a table to a file whose suffix names the format.

    The file is written under another name in the same folder and renamed when it is complete. A full disk or Ctrl-C leaves what
    was there before.

    Raise OptionError if the suffix names no format, or the format does not support a column's type. An Arrow file cannot hold
    batches with several dictionaries for a column. Raise MissingDependencyError if PyArrow, DuckDB or the compression's
    package is not installed. Raise OSError if the file cannot be written.

    `table`: anything with ``__arrow_c_stream__``.
    `path`: ``.parquet``; ``.arrow`` or ``.feather`` for an Arrow IPC file (not compressed, so that readers can map it);
    ``.csv`` or ``.tsv`` as by `write_csv`, optionally followed by ``.gz``, ``.zst``, ``.bz2`` or ``.xz``; ``.duckdb`` for a
    database with one table, named after the file. A database with other tables is not replaced.

    >>> import headrace, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "t.parquet")
    >>> write_table(headrace.read_csv(b"a\\n1\\n"), path)
    >>> os.listdir(os.path.dirname(path))
    ['t.parquet']
    """
    target, file_format = _resolve(path)
    file_format.load()
    file_format.write(table, target)


def write_parquet(table: ArrowStream, path: str | os.PathLike[str], **options: object) -> None:
    """Write a table as a Parquet file, whatever its name is, as `write_table` does; `options` are those of PyArrow's writer.

    Raise OptionError if the path is none. Raise MissingDependencyError if PyArrow is not installed. Raise OSError if the file
    cannot be written.
    """
    file_format = _FORMATS[".parquet"]
    if not is_path(path):
        raise OptionError.wrong("path", "a path (a file object is for pyarrow.parquet.write_table(table.to_arrow(), file))", path)
    if "partition_cols" in options:
        raise OptionError(
            "write_parquet writes one file; for a folder of each value use pyarrow.dataset.write_dataset(table, path, "
            "format='parquet', partitioning=['day']) with table.to_arrow() or scan.to_reader()"
        )
    checked_path(path, "path")
    file_format.load()
    _write_batches(table, final_path(path), partial(_open_parquet, options=options))


def _open_parquet(sink: Any, schema: Any, *, options: Mapping[str, object]) -> Any:
    try:
        return import_module("pyarrow.parquet").ParquetWriter(sink, schema, **options)
    except TypeError as error:
        if not options:
            raise
        raise OptionError(f"options {', '.join(options)} of pyarrow.parquet.ParquetWriter: {error}") from error


def suffixes() -> tuple[str, ...]:
    """Return the suffixes that name a format."""
    return tuple(_FORMATS)


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise the errors that `write_table` raises before it writes, so that they precede a long read."""
    target, file_format = _resolve(path)
    file_format.load()
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        code = errno.EACCES if target.parent.is_dir() else errno.ENOENT
        raise OSError(code, os.strerror(code), str(target.parent))


@dataclass(frozen=True, slots=True)
class _Format:
    write: Callable[[ArrowStream, Path], None]  # writes a table to a path
    extra: str = ""  # the extra of this package that installs `modules`
    modules: tuple[str, ...] = ()  # modules that `write` imports

    def load(self) -> None:
        for name in self.modules:
            try:
                import_module(name)
            except ImportError:
                package, _, part = name.partition(".")
                raise MissingDependencyError.of(package, self.extra, f"writing {part or package} files") from None


def _write_batches(table: ArrowStream, target: Path, open_writer: Callable[[Any, Any], Any]) -> None:
    """Write batch by batch, with the writer that `open_writer` returns for a file and a schema."""
    arrow = import_module("pyarrow")
    with moved_when_whole(target) as temporary, arrow.OSFile(str(temporary), "wb") as sink:
        stream = arrow.RecordBatchReader.from_stream(table)
        with open_writer(sink, stream.schema) as out:
            for batch in stream:
                # From a batch without rows from the C interface, PyArrow 26 can write an unreadable IPC file.
                if batch.num_rows:
                    out.write_batch(batch)


def _write_parquet(table: ArrowStream, target: Path) -> None:
    _write_batches(table, target, import_module("pyarrow.parquet").ParquetWriter)


def _write_ipc(table: ArrowStream, target: Path) -> None:
    try:
        _write_batches(table, target, import_module("pyarrow.ipc").new_file)
    except import_module("pyarrow").ArrowInvalid as error:
        if "Dictionary replacement" not in str(error):
            raise
        raise OptionError(
            "an Arrow file has one dictionary for a column, and batches have their own: write .parquet, convert the column to "
            "texts (a scan: dtypes=, strings='plain'), or write a table instead of a scan"
        ) from None


def _write_csv(table: ArrowStream, target: Path) -> None:
    write_csv(table, target)


def _write_tsv(table: ArrowStream, target: Path) -> None:
    write_csv(table, target, sep="\t")


def _write_duckdb(table: ArrowStream, target: Path) -> None:
    """Write a database with one table, named after the file."""
    log = target.with_name(f"{target.name}.wal")
    if log.exists():
        raise OptionError(f"{str(log)!r} belongs to the database that would be replaced; close that database first")
    _check_replaced(target)
    stream = import_module("pyarrow").RecordBatchReader.from_stream(table)
    name = target.stem.replace('"', '""')
    with moved_when_whole(target) as temporary:
        temporary.unlink()  # DuckDB creates its file itself
        try:
            with import_module("duckdb").connect(str(temporary)) as connection:
                connection.register("headrace_written", stream)
                connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM headrace_written')
        finally:
            temporary.with_name(f"{temporary.name}.wal").unlink(missing_ok=True)


def _check_replaced(target: Path) -> None:
    """Refuse a database with other tables or views than the one that is written. A file that is no database is replaced."""
    if not target.exists():
        return
    duckdb = import_module("duckdb")
    names = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    try:
        with duckdb.connect(str(target), read_only=True) as connection:
            others = sorted({name for (name,) in connection.execute(names).fetchall()} - {target.stem})
    except duckdb.Error:
        return
    if others:
        raise OptionError(
            f"{str(target)!r} has other tables, such as {shown(others[0])}, and would be replaced as a whole; name another file"
        )


_IPC = _Format(_write_ipc, "arrow", ("pyarrow", "pyarrow.ipc"))
_FORMATS = {
    ".parquet": _Format(_write_parquet, "parquet", ("pyarrow", "pyarrow.parquet")),
    ".arrow": _IPC,
    ".feather": _IPC,
    ".csv": _Format(_write_csv),
    ".tsv": _Format(_write_tsv),
    ".duckdb": _Format(_write_duckdb, "duckdb", ("duckdb", "pyarrow")),
}


def _resolve(path: str | os.PathLike[str]) -> tuple[Path, _Format]:
    """Return the path to write (links are followed, so that a link remains one) and the format."""
    target = Path(checked_path(path, "the target"))
    suffix = target.suffix
    if suffix.lower() in COMPRESSED and Path(target.stem).suffix.lower() in (".csv", ".tsv"):
        suffix = Path(target.stem).suffix
    if suffix.lower() not in _FORMATS:
        valid = ", ".join(_FORMATS)
        what = f"the suffix {suffix!r} names no format" if suffix else "the name has no suffix that names a format"
        raise OptionError(f"cannot write {shown(os.fspath(path))}: {what}; valid: {valid}")
    return final_path(path), _FORMATS[suffix.lower()]
