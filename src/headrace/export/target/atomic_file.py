"""Writes files that exist either as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def final_path(path: str | os.PathLike[str]) -> Path:
    """Return the path with links resolved, so that a link remains one."""
    return Path(os.path.realpath(path))


@contextmanager
def moved_when_whole(target: Path) -> Iterator[Path]:
    """Create a file in the folder of `target`, and rename it to `target` if the block succeeds; else delete it."""
    temporary = target.with_name(f".headrace-{os.urandom(8).hex()}.part")
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:  # with the caller's path in the message
        raise OSError(error.errno, os.strerror(error.errno or 0), str(target)) from None
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
