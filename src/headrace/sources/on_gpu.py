"""Text that lies on a GPU. What reads it is imported when there is such a text: most sources are files."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from headrace import _native
from headrace.core.errors import OptionError
from headrace.core.transfers import Crossings

if TYPE_CHECKING:
    from headrace.arrays.arrays import Array
    from headrace.core.device import Device
    from headrace.gpu.kernels.launcher import Room

_BYTES = {"|u1", "|i1"}


@cache
def _wanted() -> SimpleNamespace:
    """What reads such a text."""
    import ctypes

    from headrace.arrays.arrays import take
    from headrace.gpu.device.device import gpu
    from headrace.gpu.transfer.staging import staging

    return SimpleNamespace(ctypes=ctypes, take=take, gpu=gpu, staging=staging)


def is_on_gpu(source: object) -> bool:
    """Whether a source is an array on a GPU, of whatever items."""
    if type(source).__module__.partition(".")[0] == "torch":
        return bool(getattr(source, "is_cuda", False))
    return hasattr(type(source), "__cuda_array_interface__")


def text_on_gpu(source: object) -> Array:
    """A caller's array of bytes on a GPU.

    Raises
    ------
    OptionError
        Its items are no bytes.
    """
    text: Array = _wanted().take(source, "source")
    if text.typestr not in _BYTES:
        raise OptionError(f"source on a GPU must be an array of bytes (uint8), not of {text.typestr!r}")
    return text


def view_of_room(room: Room, device: Device, stream: int, crossings: Crossings) -> _native.Source:
    """As `host_view`, of memory that was made on a GPU."""
    from headrace.arrays.arrays import Array

    text = Array(room.address, room.nbytes, "|u1", device, "headrace", stream, owner=room)
    return host_view(text, crossings)


_HEAD_BYTES, _LARGE_HEAD_BYTES, _LARGE_TEXT = 16 << 10, 64 << 10, 64 << 20
MOST_HEAD_BYTES = 128 << 10
"""And so much once something behind the first bytes is asked for that lies before this."""


def head_bytes(size: int) -> int:
    """Of a text of so many bytes, so many are fetched at once: a copy costs about the same up to there, and
    more tell more of a large text (headrace.columns.load.gpu.estimate).
    """
    return _HEAD_BYTES if size < _LARGE_TEXT else _LARGE_HEAD_BYTES


def host_view(text: Array, crossings: Crossings) -> _native.Source:
    """A source for the native readers, which copies to the host what they read, and counts it.

    It keeps the caller's array.
    """
    modules = _wanted()
    ctypes, card, size = modules.ctypes, modules.gpu(text.device), text.nbytes
    staged = modules.staging(card)
    stream = card.stream if text.stream is None else text.stream

    def fetched(address: int, count: int) -> bytes:
        with card.current():  # any thread may read
            found: bytes = staged.fetch(address, stream, count, counted=crossings)
        return found

    head = fetched(text.address, min(head_bytes(size), size)) if size else b""

    def read(offset: int, count: int, address: int) -> None:
        nonlocal head
        if len(head) < offset + count <= MOST_HEAD_BYTES:
            head = fetched(text.address, min(MOST_HEAD_BYTES, size))
        if offset + count <= len(head):
            ctypes.memmove(address, head[offset : offset + count], count)
        elif count <= MOST_HEAD_BYTES:
            ctypes.memmove(address, fetched(text.address + offset, count), count)
        else:
            target: Any = (ctypes.c_char * count).from_address(address)
            staged.download_from(text.address + offset, stream, target, counted=crossings)

    return _native.Source.from_reader(size, read, head)
