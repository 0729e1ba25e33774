"""Reads text in GPU memory. Its dependencies are imported on first use, because most sources are files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from headrace import _native
from headrace.core.errors import OptionError
from headrace.core.lazy import LazyAttribute
from headrace.core.transfers import Crossings
from headrace.sources.kinds.ranges import RangeReader, RangeSource

if TYPE_CHECKING:
    from headrace.arrays.arrays import Array
    from headrace.core.device import Device
    from headrace.gpu.kernels.launcher import DeviceBuffer

_BYTE_TYPES = {"|u1", "|i1"}


@cache
def _modules() -> SimpleNamespace:
    """Import the modules that read GPU memory."""
    import ctypes

    from headrace.arrays.arrays import take
    from headrace.gpu.device.device import gpu
    from headrace.gpu.transfer.staging import staging

    return SimpleNamespace(ctypes=ctypes, take=take, gpu=gpu, staging=staging)


def is_on_gpu(source: object) -> bool:
    """Return whether a source is an array in GPU memory, of any item type."""
    if type(source).__module__.partition(".")[0] == "torch":
        return bool(getattr(source, "is_cuda", False))
    return hasattr(type(source), "__cuda_array_interface__")


def text_on_gpu(source: object) -> Array:
    """Return a caller's array of bytes on a GPU. Raise OptionError if its items are not bytes."""
    text: Array = _modules().take(source, "source")
    if text.typestr not in _BYTE_TYPES:
        raise OptionError(f"source on a GPU must be an array of bytes (uint8), not of {text.typestr!r}")
    return text


def gpu_source(source: object) -> RangeSource:
    """Return the source of an array in GPU memory. Raise OptionError if its items are not bytes."""
    text = text_on_gpu(source)
    return RangeSource(f"<{text.device}>", lambda crossings: nullcontext(GpuReader(text, crossings)))


class GpuReader(RangeReader):
    """Reads an array of bytes in GPU memory; nothing is copied before `native` is asked for."""

    def __init__(self, text: Array, crossings: Crossings) -> None:
        self.on_gpu = self._text = text
        self._crossings = crossings

    @property
    def size(self) -> int:
        """Bytes of the text."""
        return self._text.nbytes

    @LazyAttribute
    def native(self) -> _native.Source:
        """The text for native readers; see `host_view`."""
        return host_view(self._text, self._crossings)

    def read_ranges(self, ranges: Sequence[range]) -> Sequence[bytes]:
        """Return the bytes of each range."""
        return [self.native.read(part.start, len(part)) for part in ranges]


def view_of_buffer(buffer: DeviceBuffer, head: bytes, device: Device, stream: int, crossings: Crossings) -> _native.Source:
    """Return a source for memory that was allocated on a GPU, whose first bytes may be known; see `host_view`."""
    from headrace.arrays.arrays import Array

    text = Array(buffer.address, buffer.nbytes, "|u1", device, "headrace", stream, owner=buffer)
    return host_view(text, crossings, head)


_HEAD_BYTES, _LARGE_HEAD_BYTES, _LARGE_TEXT = 16 << 10, 64 << 10, 64 << 20
_MAX_HEAD_BYTES = 128 << 10  # bytes of the beginning that are fetched as soon as a read within them extends past the first fetch


def first_fetch_bytes(size: int) -> int:
    """Return the bytes fetched first from a text of `size` bytes.

    A copy takes about the same time up to 16 KB. A large text gets 64 KB, which makes a better estimate of its rows
    (headrace.columns.load.gpu.estimate).
    """
    return _HEAD_BYTES if size < _LARGE_TEXT else _LARGE_HEAD_BYTES


def host_view(text: Array, crossings: Crossings, head: bytes = b"") -> _native.Source:
    """Return a source for the native readers that copies the bytes they read to the host, and counts the copies.

    The source keeps the caller's array alive. `head`: the first bytes if they are known, which then are not copied.
    """
    modules = _modules()
    ctypes, card, size = modules.ctypes, modules.gpu(text.device), text.nbytes
    staged = modules.staging(card)
    stream = card.stream if text.stream is None else text.stream

    def fetched(address: int, count: int) -> bytes:
        with card.current():  # any thread may read
            found: bytes = staged.fetch(address, stream, count, counted=crossings)
        return found

    if size and not head:
        head = fetched(text.address, min(first_fetch_bytes(size), size))

    def read(offset: int, count: int, address: int) -> None:
        nonlocal head
        if len(head) < offset + count <= _MAX_HEAD_BYTES:
            head = fetched(text.address, min(_MAX_HEAD_BYTES, size))
        if offset + count <= len(head):
            ctypes.memmove(address, head[offset : offset + count], count)
        elif count <= _MAX_HEAD_BYTES:
            ctypes.memmove(address, fetched(text.address + offset, count), count)
        else:
            target: Any = (ctypes.c_char * count).from_address(address)
            staged.download_from(text.address + offset, stream, target, counted=crossings)

    return _native.Source.from_reader(size, read, head)
