"""A file system in memory that keeps the durable image of each file, fails or crashes at any operation, and forgets at a crash.

Bytes that were not synced are lost, stay, stay in part, or stay without those before them, as the form of the crash says. Changes
of names are likewise durable only after a sync of the folder.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, field

from headrace.store.files.records import SECTOR

FORMS = ("lost", "written", "torn", "zeros", "holes", "names only", "removals only")
"""Forms of a crash: the fate of bytes and names that were not synced."""


class Crashed(BaseException):
    """The machine stops: no code of the store runs after it."""


@dataclass
class Node:
    """A file: its bytes, and the number of them that were synced."""

    data: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    last_write: int = 0

    def after(self, form: str) -> bytes:
        """Return the bytes after a crash."""
        synced = len(self.durable)
        if form in ("lost", "names only", "removals only"):
            return self.durable
        if len(self.data) <= synced:  # bytes were removed
            return bytes(self.data) if form == "written" else self.durable
        if form == "written":
            return bytes(self.data)
        last = max(self.last_write, synced)
        half = (last + len(self.data) + 1) // 2
        if form == "torn":
            return bytes(self.data[:half])
        if form == "zeros":  # the length is on the disk, and the last sectors are not
            whole = max(last, half - half % SECTOR)
            return bytes(self.data[:whole]) + bytes(len(self.data) - whole)
        return bytes(self.data[:synced]) + bytes(last - synced) + bytes(self.data[last:])  # holes


class CrashFiles:
    """Files of a folder in memory.

    Parameters
    ----------
    names
        The files that exist, all of them durable.
    crash_at
        Number of the operation that stops the machine half-way; None for none.
    fail_at
        Number of the operation from which on each one fails, as on a full disk.
    """

    def __init__(self, names=None, *, crash_at=None, fail_at=None, fails=1, error=errno.ENOSPC):
        self.names_now = {name: Node(bytearray(data), bytes(data)) for name, data in (names or {}).items()}
        self.names_durable = dict(self.names_now)
        self.crash_at, self.fail_at, self.fails, self.error = crash_at, fail_at, fails, error
        self.operations = 0
        self.is_locked = False

    def after_crash(self, form):
        """Return the durable files after a crash."""
        names = dict(self.names_durable)
        if form in ("written", "torn", "zeros", "holes", "names only"):
            names = dict(self.names_now)
        elif form == "removals only":
            names = {name: node for name, node in names.items() if name in self.names_now}
        return CrashFiles({name: node.after(form) for name, node in names.items()})

    def stop_or_go_on(self, is_write=True):
        """Count an operation; stop the machine in it, or raise OSError if it fails."""
        if self.step(is_write):
            raise Crashed

    def step(self, is_write=True):
        """Count an operation; return whether the machine stops in it. Raise OSError if it fails."""
        self.operations += 1
        if self.crash_at is not None and self.operations > self.crash_at:
            raise Crashed  # handlers of the store do nothing after the machine has stopped
        if self.crash_at == self.operations:
            return True
        if self.fail_at is not None and is_write and self.fail_at <= self.operations < self.fail_at + self.fails:
            raise OSError(self.error, "No space left on device")
        return False

    def make_folder(self):
        pass

    def names(self):
        return sorted(self.names_now)

    def read(self, name):
        """Return the bytes of a file, for tests."""
        return bytes(self.names_now[name].data)

    def open_read(self, name):
        if name not in self.names_now:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", name)
        return OpenFile(self.names_now[name])

    def open_append(self, name):
        if name not in self.names_now:
            self.stop_or_go_on()
            self.names_now[name] = Node()
        return CrashFile(self, self.names_now[name])

    def replace(self, name, target):
        self.stop_or_go_on()
        self.names_now[target] = self.names_now.pop(name)

    def remove(self, name):
        if name not in self.names_now:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", name)
        self.stop_or_go_on()
        del self.names_now[name]

    def sync_folder(self):
        self.stop_or_go_on()
        self.names_durable = dict(self.names_now)

    def lock(self):
        if self.is_locked:
            return None
        self.is_locked = True
        return CrashLock(self)


class OpenFile:
    """A file that is open for reading."""

    def __init__(self, node):
        self.node = node

    @property
    def size(self):
        return len(self.node.data)

    def read(self, begin, nbytes):
        return memoryview(bytes(self.node.data[begin : begin + nbytes]))


class CrashLock:
    """The lock of a folder."""

    is_inherited = False

    def __init__(self, files):
        self.files = files

    def close(self):
        self.files.is_locked = False


class CrashFile:
    """An open file."""

    def __init__(self, files, node):
        self.files, self.node = files, node

    @property
    def size(self):
        return len(self.node.data)

    def write(self, data):
        self.node.last_write = len(self.node.data)
        try:
            stops = self.files.step()
        except OSError:
            self.node.data += data[: len(data) // 2]  # a full disk takes a part
            raise
        self.node.data += data
        if stops:
            raise Crashed

    def begin_sync(self):
        self.files.stop_or_go_on(is_write=False)

    def sync(self):
        self.files.stop_or_go_on()
        self.node.durable = bytes(self.node.data)

    def truncate(self, size):
        self.files.stop_or_go_on(is_write=False)
        del self.node.data[size:]

    def close(self):
        pass


class WithoutSync(CrashFiles):
    """Planted bug: syncs of files do nothing."""

    def open_append(self, name):
        file = super().open_append(name)
        file.sync = self.stop_or_go_on
        return file


class WithoutFolderSync(CrashFiles):
    """Planted bug: syncs of the folder do nothing, so a new name may be lost while a removal is not."""

    def sync_folder(self):
        self.stop_or_go_on()


class WithLostWrite(CrashFiles):
    """Planted bug: every third write of a file is dropped."""

    writes = 0

    def open_append(self, name):
        file = super().open_append(name)
        write = file.write

        def lossy(data):
            self.writes += 1
            if self.writes % 3:
                write(data)

        file.write = lossy
        return file
