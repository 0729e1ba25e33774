"""Caches compiled kernels on disk; any number of processes may share a folder.

A file is named by the hash of its inputs: source, options, architecture. It is written under a temporary name and renamed, which
is atomic, so a reader sees a whole file or none. Two processes that miss at once write the same bytes. Each file ends with a
digest. A file that a full disk or a crash left incomplete fails the check, counts as a miss, and is written again.

Cubins of the package ``headrace-kernels-cuda13`` are tried first, then the user's cache, which has one folder for each release of
the compiler. A hit needs neither compiler nor toolkit.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_MAX_BYTES = 256 << 20
_DIGEST = hashlib.sha256
_DIGEST_SIZE = 32
_SUFFIX = ".cubin"
_NEW = ".new"  # suffix of a file that is being written
_STALE_SECONDS = 3600  # age after which a temporary file counts as left over from a dead process


@dataclass(frozen=True, slots=True)
class KernelCache:
    """A folder of compiled kernels."""

    folder: Path  # The folder; created by the first write. If it cannot be written, nothing is cached and nothing fails.
    max_bytes: int | None = _MAX_BYTES
    """Size limit. The oldest kernels are deleted above it; None for no limit. Other files do not count."""

    def get(self, key: str) -> bytes | None:
        """Return the cubin stored under `key`; None if there is none, or it is incomplete."""
        try:
            data = (self.folder / (key + _SUFFIX)).read_bytes()
        except OSError:
            return None
        code, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
        return code if _DIGEST(code).digest() == digest else None

    def put(self, key: str, code: bytes) -> bool:
        """Store a cubin; return False if the folder cannot be written."""
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
        if self.max_bytes is not None:
            self._prune(self.max_bytes)
        return True

    def _prune(self, max_bytes: int) -> None:
        """Delete the oldest files. Another process may prune at the same time, so a missing file is no error."""
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
            if total <= max_bytes:
                return
            with suppress(OSError):
                path.unlink()
            total -= size


def key_of(source: str, options: str) -> str:
    """Return the key of a source compiled with those options.

    >>> key_of("x", "sm_90") == key_of("x", "sm_90"), key_of("x", "sm_90") == key_of("x", "sm_80")
    (True, False)
    """
    return hashlib.sha256(f"{options}\0{source}".encode()).hexdigest()[:32]


@cache
def shipped() -> KernelCache | None:
    """Return the cubins of the installed package ``headrace-kernels-cuda13``; None if it is not installed."""
    found = find_spec("headrace_kernels_cuda13")
    if found is None or found.origin is None:
        return None
    return KernelCache(Path(found.origin).parent / "cubins", max_bytes=None)


def user_folder() -> Path:
    """Return the folder of the user's cache.

    It is ``HEADRACE_KERNEL_CACHE`` if set, else ``headrace/kernels`` in ``XDG_CACHE_HOME`` or ``~/.cache``. Without a home
    directory, as in some containers, it is a path that cannot be written.
    """
    if named := os.environ.get("HEADRACE_KERNEL_CACHE"):
        return Path(named)
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    except RuntimeError:
        base = os.devnull
    return Path(base) / "headrace" / "kernels"


def compiler_release() -> str:
    """Return the release of the compiler's package, or ``"system"``.

    Loading NVRTC to ask for its version would cost what a cache hit saves, and importing ``importlib.metadata`` 15 ms.
    """
    for folder in sys.path:
        for found in sorted(Path(folder).glob("nvidia_cuda_nvrtc*-*.dist-info")):
            return found.stem.split("-")[1]
    return "system"


@cache
def user_cache() -> KernelCache:
    """Return the user's cache for this compiler."""
    return KernelCache(user_folder() / f"nvrtc-{compiler_release()}")
