"""Writes files that exist either as a whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def final_path(path: str | os.PathLike[str]) -> Path:
    """Return the path with links resolved, so that a link remains one."""
    return Path(os.path.realpath(path))


@contextmanager
def moved_when_whole(target: Path, *, is_durable: bool = False) -> Iterator[Path]:
    """Create a file in the folder of `target`, and rename it to `target` if the block succeeds; else delete it.

    `is_durable`: whether the file is on the disk before it is renamed, and its name before the function returns. So a crash of
    the machine leaves the old file or the new one.
    """
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    temporary = target.with_name(f".headrace-{os.urandom(8).hex()}.part")
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:  # with the caller's path in the message
        raise OSError(error.errno, os.strerror(error.errno or 0), str(target)) from None
    try:
        yield temporary
        if is_durable:
            _write_through(temporary)
        os.replace(temporary, target)
        if is_durable:
            _write_through(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_through(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
