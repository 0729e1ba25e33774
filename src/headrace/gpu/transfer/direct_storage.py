"""Files that a card reads itself: GPUDirect Storage through KvikIO, where that is installed and the machine has it.

Where the machine has none, KvikIO copies through the host's memory, as `headrace.gpu.memory.pinned` does, and is left alone.
"""

from __future__ import annotations

import importlib
from typing import Any

from headrace.core.errors import SourceError


class DirectFile:
    """A file that is read into memory of a card.

    Parameters
    ----------
    kvikio
        The package.
    path
        Of the file.
    """

    def __init__(self, kvikio: Any, path: str) -> None:
        self._path = path
        self._file = kvikio.CuFile(path, "r")

    def read(self, part: range, address: int) -> None:
        """Fill memory of the card, which nobody else uses, with a part of the file; returns when it is there.

        Raises
        ------
        SourceError
            The file has no such bytes any more, or cannot be read.
        """
        try:
            found = self._file.pread(_Memory(address, len(part)), len(part), part.start).get()
        except (RuntimeError, OSError) as error:
            raise SourceError(f"{self._path} cannot be read by the GPU: {error}") from error
        if found != len(part):
            raise SourceError(f"{self._path} shrank while it was read: it has no bytes behind {part.start + found}")

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class _Memory:
    """Bytes of a card, as KvikIO takes them."""

    def __init__(self, address: int, nbytes: int) -> None:
        told = {"shape": (nbytes,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 3}
        self.__cuda_array_interface__ = told


def direct_file(path: str | None) -> DirectFile | None:
    """A regular file, if the card can read it by itself."""
    kvikio = _package()
    return None if path is None or kvikio is None else DirectFile(kvikio, path)


def _package() -> Any:
    """KvikIO, if it is there and does not copy through the host."""
    try:
        kvikio = importlib.import_module("kvikio")
        properties = importlib.import_module("kvikio.cufile_driver")
    except ImportError:
        return None
    return kvikio if properties.get("is_gds_available") else None
