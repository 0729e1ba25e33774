"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def final_path(path: str | os.PathLike[str]) -> Path:
    """Where a file of that name is, through links, so that a link stays one."""
    return Path(os.path.realpath(path))


@contextmanager
def moved_when_whole(target: Path) -> Iterator[Path]:
    """A new file beside `target`, on its file system, that takes its name if the block succeeds and goes if it fails."""
    temporary = target.with_name(f".headrace-{os.urandom(8).hex()}.part")
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:  # under the name that the caller knows
        raise OSError(error.errno, os.strerror(error.errno or 0), str(target)) from None
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
