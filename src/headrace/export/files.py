"""Tables to files. What a reader finds under the name is a whole file or what was there before."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from headrace.core.errors import MissingDependencyError, OptionError
from headrace.export.whole_file import final_path, moved_when_whole
from headrace.export.write_csv import ArrowStream, write_csv


class ArrowStream(Protocol):
    """A table that any Arrow library takes: ours, PyArrow's, Polars', DuckDB's."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Capsule of an ``ArrowArrayStream``."""


def write_table(table: ArrowStream, path: str | os.PathLike[str]) -> None:
    """Write a table to a file whose suffix names the format.

    The file is written beside its place and moved there when it is whole, so that a full disk or Ctrl-C leaves what was there
    before.

    Parameters
    ----------
    table
        Anything with ``__arrow_c_stream__``.
    path
        ``.parquet``, or ``.arrow`` / ``.feather`` for an Arrow IPC file (not compressed, so that readers can map it).

    Raises
    ------
    OptionError
        The suffix names no format.
    MissingDependencyError
        PyArrow is not installed.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import headrace, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "t.parquet")
    >>> write_table(headrace.read_csv(b"a\\n1\\n"), path)
    >>> os.listdir(os.path.dirname(path))
    ['t.parquet']
    """
    target, file_format = _resolve(path)
    arrow = _arrow_module("pyarrow", file_format)
    writer = _arrow_module(file_format.module, file_format)
    with moved_when_whole(target) as temporary, arrow.OSFile(str(temporary), "wb") as sink:
        stream = arrow.RecordBatchReader.from_stream(table)
        with file_format.open(writer, sink, stream.schema) as out:
            for batch in stream:
                # Of a batch without rows that came through the C interface, PyArrow 26 can make an unreadable IPC file.
                if batch.num_rows:
                    out.write_batch(batch)


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise what `write_table` would raise before it writes, so that a long read is not in vain.

    Raises
    ------
    OptionError, MissingDependencyError, OSError
        As `write_table`.
    """
    target, file_format = _resolve(path)
    _arrow_module(file_format.module, file_format)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        code = errno.EACCES if target.parent.is_dir() else errno.ENOENT
        raise OSError(code, os.strerror(code), str(target.parent))


@dataclass(frozen=True, slots=True)
class _Format:
    """A kind of file.

    Parameters
    ----------
    module
        What writes it.
    extra
        The extra of this package that installs `module`.
    open
        From `module`, a file and a schema to something with ``write_batch``.
    """

    module: str
    extra: str
    open: Callable[[Any, Any, Any], Any]


def _open_parquet(module: Any, sink: Any, schema: Any) -> Any:
    return module.ParquetWriter(sink, schema)


def _open_ipc(module: Any, sink: Any, schema: Any) -> Any:
    return module.new_file(sink, schema)


_IPC = _Format("pyarrow.ipc", "arrow", _open_ipc)
_FORMATS = {".parquet": _Format("pyarrow.parquet", "parquet", _open_parquet), ".arrow": _IPC, ".feather": _IPC}


def _resolve(path: str | os.PathLike[str]) -> tuple[Path, _Format]:
    """Where the file goes (through links, so that a link stays one) and its format."""
    suffix = Path(path).suffix
    if suffix.lower() not in _FORMATS:
        valid = ", ".join(_FORMATS)
        what = f"the suffix {suffix!r} names no format" if suffix else "the name has no suffix that names a format"
        raise OptionError(f"cannot write {os.fspath(path)!r}: {what}; valid: {valid}")
    return final_path(path), _FORMATS[suffix.lower()]


def _arrow_module(name: str, file_format: _Format) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError.of("pyarrow", file_format.extra, f"writing {name.rpartition('.')[2]} files") from None
