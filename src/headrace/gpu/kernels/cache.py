"""Compiled kernels on disk, for any number of processes at once.

A file is named by the hash of everything that it was made from: source, options, architecture. It is written beside its place
and moved there, which is atomic, so that a reader sees a whole file or none; two processes that miss at once write the same
bytes. A digest at the end of the file finds what a full disk or a crash left behind: such a file is taken for none, and made
anew.

What came with the package (``headrace kernels build --into-package``) is looked for first, then the user's cache, one folder for
each release of the compiler. A hit needs neither compiler nor toolkit.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PREBUILT = Path(__file__).parents[2] / "data" / "cubins"
"""Compiled kernels that came with the package, if any did."""

_MOST_BYTES = 256 << 20
_DIGEST = hashlib.sha256
_DIGEST_SIZE = 32
_SUFFIX = ".cubin"
_NEW = ".new"  # on its way to its place
_STALE_SECONDS = 3600
"""What has been on its way for so long was left by a process that is gone."""


@dataclass(frozen=True, slots=True)
class KernelCache:
    """A folder of compiled kernels.

    Parameters
    ----------
    folder
        Where they are; made when the first is written. If that is not possible, nothing is kept, and nothing fails.
    most_bytes
        When there are more, those that were written first go; None if all are to stay. Files that are no kernels do not count.
    """

    folder: Path
    most_bytes: int | None = _MOST_BYTES

    def get(self, key: str) -> bytes | None:
        """The kernels kept under `key`; None if there are none, or no whole ones."""
        try:
            data = (self.folder / (key + _SUFFIX)).read_bytes()
        except OSError:
            return None
        code, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
        return code if _DIGEST(code).digest() == digest else None

    def put(self, key: str, code: bytes) -> bool:
        """Keep `code`, for all who may read the folder's files; False if it cannot be written."""
        temporary = self.folder / f".{secrets.token_hex(8)}{_SUFFIX}{_NEW}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                file.write(code + _DIGEST(code).digest())
            temporary.replace(self.folder / (key + _SUFFIX))
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            return False
        if self.most_bytes is not None:
            self._prune(self.most_bytes)
        return True

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The kernels under `key`, made and kept if there are none."""
        code = self.get(key)
        if code is None:
            code = make()
            self.put(key, code)
        return code

    def _prune(self, most_bytes: int) -> None:
        """Let the oldest go. Another process may do the same at once: a file that is gone is what both want."""
        sizes = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                with suppress(OSError):
                    state = path.stat()
                    if path.suffix == _SUFFIX:
                        sizes.append((state.st_mtime_ns, state.st_size, path))
                    elif path.name.endswith(_SUFFIX + _NEW) and time.time() - state.st_mtime > _STALE_SECONDS:
                        path.unlink()
        total = sum(size for _, size, _ in sizes)
        for _, size, path in sorted(sizes)[:-1]:
            if total <= most_bytes:
                return
            with suppress(OSError):
                path.unlink()
            total -= size


def key_of(source: str, options: str) -> str:
    """Name of what is compiled from a source with those options.

    Examples
    --------
    >>> key_of("x", "sm_90") == key_of("x", "sm_90"), key_of("x", "sm_90") == key_of("x", "sm_80")
    (True, False)
    """
    return hashlib.sha256(f"{options}\0{source}".encode()).hexdigest()[:32]


def user_folder() -> Path:
    """Folder of the user's cache: ``HEADRACE_KERNEL_CACHE``, or ``headrace/kernels`` in the folder that ``XDG_CACHE_HOME`` names,
    or in ``~/.cache``. A user without a home, as in some containers, has one where nothing can be kept.
    """
    if named := os.environ.get("HEADRACE_KERNEL_CACHE"):
        return Path(named)
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    except RuntimeError:
        base = os.devnull
    return Path(base) / "headrace" / "kernels"
