"""Reads files directly into GPU memory by GPUDirect Storage, through KvikIO, where both are available.

On a machine without GPUDirect Storage, KvikIO copies through host memory, as `headrace.gpu.memory.pinned` does. It is not used
there.
"""

from __future__ import annotations

import importlib
from typing import Any

from headrace.core.errors import SourceError


class DirectFile:
    """A file that is read into GPU memory. `kvikio`: the module ``kvikio``. `path`: path of the file."""

    def __init__(self, kvikio: Any, path: str) -> None:
        self._path = path
        self._file = kvikio.CuFile(path, "r")

    def read(self, part: range, address: int) -> None:
        """Copy a part of the file to GPU memory that no other work uses. Return when the bytes are there.

        Raise SourceError if the file no longer has these bytes, or cannot be read.
        """
        try:
            found = self._file.pread(_Memory(address, len(part)), len(part), part.start).get()
        except (RuntimeError, OSError) as error:
            raise SourceError(f"{self._path} cannot be read by the GPU: {error}") from error
        if found != len(part):
            raise SourceError(f"{self._path} shrank while it was read: it has no bytes behind {part.start + found}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Memory:
    """GPU memory with the array interface that KvikIO accepts."""

    def __init__(self, address: int, nbytes: int) -> None:
        interface = {"shape": (nbytes,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 3}
        self.__cuda_array_interface__ = interface


def direct_file(path: str | None) -> DirectFile | None:
    """Open a regular file if the GPU can read it directly; otherwise return None."""
    kvikio = _package()
    return None if path is None or kvikio is None else DirectFile(kvikio, path)


def _package() -> Any:
    """Return KvikIO if it is installed and does not copy through the host."""
    try:
        kvikio = importlib.import_module("kvikio")
        properties = importlib.import_module("kvikio.cufile_driver")
    except ImportError:
        return None
    return kvikio if properties.get("is_gds_available") else None
