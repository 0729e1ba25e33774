"""Lists the file operations that a store uses, and runs them on the host's file system.

The interface is small, so that tests can replace the file system by one that fails, tears writes and forgets what was not synced.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Protocol
from weakref import finalize

from headrace import _native

_REMOVED = "a merge on another machine has removed the file; refresh() reads the store again"


class AppendFile(Protocol):
    """A file that is open for appending."""

    @property
    def size(self) -> int:
        """Number of bytes, with those that are not synced."""

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes."""

    def begin_sync(self) -> None:
        """Begin to write all bytes to the disk, without waiting for it."""

    def sync(self) -> None:
        """Return when all bytes are on the disk."""

    def truncate(self, size: int) -> None:
        """Remove the bytes from `size` on."""

    def close(self) -> None:
        """Close the file, without a sync."""


class ReadFile(Protocol):
    """A file that is open for reading. It can be read after it was removed."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    def read(self, begin: int, nbytes: int) -> memoryview:
        """Return bytes from an offset on, fewer if the file ends before. Buffers may be parts of them."""


class FolderLock(Protocol):
    """A lock that is held until it is closed, or its process ends."""

    @property
    def is_inherited(self) -> bool:
        """True in a process that was forked from the one that took the lock."""

    def close(self) -> None:
        """Release the lock."""


class FileSystem(Protocol):
    """The operations on the files of one folder, by name. All raise OSError if they fail."""

    def make_folder(self) -> None:
        """Make the folder and its parents if they do not exist, and sync each parent that has a new folder."""

    def names(self) -> list[str]:
        """Return the names of the files; empty if there is no folder."""

    def open_read(self, name: str) -> ReadFile:
        """Open a file for reading. It is closed when it is dropped."""

    def open_append(self, name: str) -> AppendFile:
        """Open a file for appending, and create it if it does not exist."""

    def replace(self, name: str, target: str) -> None:
        """Rename a file, and replace the one that has the name."""

    def remove(self, name: str) -> None:
        """Remove a file."""

    def sync_folder(self) -> None:
        """Return when the names of all files are on the disk."""

    def lock(self) -> FolderLock | None:
        """Return a lock of the folder; None if another holder has it."""


class HostFiles:
    """The files of a folder of the host."""

    def __init__(self, path: str) -> None:
        self.path = path

    def make_folder(self) -> None:
        """Make the folder and its parents if they do not exist, and sync each parent that has a new folder."""
        parents = [os.path.dirname(os.path.abspath(self.path))]
        while not os.path.isdir(parents[-1]):
            parents.append(os.path.dirname(parents[-1]))
        os.makedirs(self.path, exist_ok=True)
        for parent in parents:
            _sync_folder(parent)

    def names(self) -> list[str]:
        """Return the names of the files; empty if there is no folder."""
        return sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []

    def open_read(self, name: str) -> ReadFile:
        """Open a file for reading. It is closed when it is dropped."""
        return _HostReadFile(self._at(name))

    def open_append(self, name: str) -> AppendFile:
        """Open a file for appending, and create it if it does not exist."""
        return _HostFile(FileIO(self._at(name), "ab"))

    def replace(self, name: str, target: str) -> None:
        """Rename a file, and replace the one that has the name."""
        os.replace(self._at(name), self._at(target))

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._at(name))

    def sync_folder(self) -> None:
        """Return when the names of all files are on the disk."""
        _sync_folder(self.path)

    def lock(self) -> FolderLock | None:
        """Return a lock of the folder; None if another holder has it, in this process or another one."""
        file = FileIO(self._at("lock"), "ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        except BaseException:
            file.close()
            raise
        return _HostLock(file)

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


class _HostReadFile:
    def __init__(self, path: str) -> None:
        self._path = path
        with self._removed_if_stale():
            self._number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            finalize(self, os.close, self._number)
            self.size = os.fstat(self._number).st_size

    def read(self, begin: int, nbytes: int) -> memoryview:
        with self._removed_if_stale():
            return memoryview(_native.read_file(self._number, begin, nbytes))

    @contextmanager
    def _removed_if_stale(self) -> Iterator[None]:
        """Raise FileNotFoundError if another machine has removed the file from NFS."""
        try:
            yield
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
            raise FileNotFoundError(errno.ENOENT, _REMOVED, self._path) from None


class _HostLock:
    """A lock of a file of the host. A forked process has the same one: it must neither use nor release it."""

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._process = os.getpid()

    @property
    def is_inherited(self) -> bool:
        return os.getpid() != self._process

    def close(self) -> None:
        if not self._file.closed and not self.is_inherited:
            fcntl.flock(self._file, fcntl.LOCK_UN)  # forked processes keep the file open
        self._file.close()


class _HostFile:
    def __init__(self, file: FileIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    @property
    def size(self) -> int:
        return self._size

    def write(self, data: bytes | memoryview) -> None:
        rest = memoryview(data)
        with self._named_errors():
            while rest:
                written = os.write(self._file.fileno(), rest)
                self._size += written
                rest = rest[written:]

    def begin_sync(self) -> None:
        _native.begin_sync(self._file.fileno())

    def sync(self) -> None:
        with self._named_errors():
            os.fsync(self._file.fileno())

    def truncate(self, size: int) -> None:
        os.ftruncate(self._file.fileno(), size)
        self._size = size

    def close(self) -> None:
        self._file.close()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Add the name of the file to errors of calls that have its number alone."""
        try:
            yield
        except OSError as error:
            error.filename = self._file.name
            raise


def read_file(files: FileSystem, name: str) -> memoryview:
    """Return the bytes of a file. Buffers may be parts of them."""
    file = files.open_read(name)
    return file.read(0, file.size)


def _sync_folder(path: str) -> None:
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    finally:
        os.close(number)
