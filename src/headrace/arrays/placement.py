"""Places inputs and results: copies an input to the context's device if needed, and allocates a result of the input's library.

The result's memory comes from that library's own allocator.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from headrace import _native
from headrace.arrays.arrays import TORCH_NAMES, Array, fast_array, host_array, needed_numpy, take, width_of
from headrace.arrays.device_array import DeviceArray
from headrace.arrays.inputs import plain
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.gpu.device.device import gpu, is_lasting
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import device_pool

_REUSED_FROM = 1 << 20  # minimum bytes of a result whose memory is reused: MAPPED_FROM of core/cpu/memory.hpp


def placed(value: Any, name: str, context: Context, budget: Budget | None = None) -> Array:
    """Return a caller's array on the device where the work runs. A host array is copied if the context names a GPU.

    `value`: as in `take`, or a list, a Series, or an array with gaps or of big-endian items, which is copied (inputs.py).
    `name`: as in `take`.
    `context`: `Context.device` is the wanted device, and `Context.crossings` counts a copy.
    """
    given = value if type(value) is DeviceArray else plain(value, name)
    source, wanted = take(given, name), context.device
    if given is not value and budget is not None:
        budget.charge(source.nbytes)
    if wanted.kind == "cpu" or source.device == wanted:
        return source
    if source.device.kind != "cpu":
        raise OptionError(f"{name} lies on {source.device}, and the context names {wanted}; nothing is copied between GPUs")
    return take(DeviceArray.from_host(source.as_numpy(), gpu(wanted), counted=context.crossings, budget=budget), name)


def empty_like(source: Array, length: int, typestr: str | None = None, budget: Budget | None = None) -> Array:
    """Allocate an uninitialised array of the input's library, on its device and for its stream.

    `typestr`: type of the result's items; None for that of the input.
    Result: its `owner` is the object for the caller. For another library's input this is a NumPy array on the CPU, and a
    `DeviceArray` on a GPU. If the input's stream may be destroyed, the `DeviceArray` belongs to the GPU's own stream (see
    `in_stream_of`). For a cuDF column it is a CuPy array, which cuDF accepts without a copy.
    """
    typestr = source.typestr if typestr is None else typestr
    width = width_of(typestr)
    if source.device.kind != "cpu" and source.library not in {"torch", "cupy", "cudf"}:
        stream = source.stream if is_lasting(source.stream) else None
        buffer = device_pool(gpu(source.device)).take(length * width, stream, budget)
        return take(DeviceArray(buffer, typestr, length))
    if budget is not None:
        budget.charge(length * width)  # another library's memory, which is never returned to the budget
    if source.library == "torch":
        result = source.owner.new_empty(length) if typestr == source.typestr else _empty_torch(source, length, typestr)
        return fast_array(result.data_ptr(), length, typestr, source.device, "torch", source.stream, True, result)
    if source.device.kind == "cpu":
        return empty_on_host(length, typestr)
    cupy, index, dtype = _cupy(), source.device.index, _numpy_type(typestr)
    if cupy.cuda.runtime.getDevice() == index:
        result = cupy.ndarray(length, dtype)
    else:
        with cupy.cuda.Device(index):
            result = cupy.ndarray(length, dtype)
    return fast_array(result.data.ptr, length, typestr, source.device, "cupy", source.stream, True, result)


def first_items(result: Array, count: int) -> Any:
    """Return the owner of an array of `empty_like` with its first items alone."""
    if isinstance(result.owner, DeviceArray):
        return DeviceArray(result.owner.buffer, result.typestr, count)
    return result.owner[:count]


def empty_on_host(length: int, typestr: str) -> Array:
    """Allocate an uninitialised array of NumPy. Large ones reuse the memory of freed arrays: page faults cost more."""
    dtype = _numpy_type(typestr)
    nbytes = length * dtype.itemsize
    is_small = nbytes < _REUSED_FROM
    items = needed_numpy("an array on the host").empty(length, dtype) if is_small else _native.new_bytes(nbytes).view(dtype)
    return host_array(items, typestr)


@cache
def _cupy() -> Any:
    return import_module("cupy")


@lru_cache(256)
def _numpy_type(typestr: str) -> Any:
    return needed_numpy("an array").dtype(typestr)


def in_stream_of(source: Array, *others: Array) -> AbstractContextManager[None]:
    """Order work on the stream of `source` with the streams of the other arrays that the work reads or writes.

    Work enqueued inside the block runs after the earlier work of those streams, and before their later work. On the host, or if
    all arrays have the same stream, the block has no effect.
    """
    own = source.stream
    streams = {other.stream for other in others if other.stream is not None and other.stream != own}
    return _NO_OTHER_STREAM if own is None or not streams else _ordered(source, streams)


_NO_OTHER_STREAM = nullcontext()


@contextmanager
def _ordered(source: Array, streams: set[int]) -> Iterator[None]:
    assert source.stream is not None
    card = gpu(source.device)
    with card.current():
        for stream in streams:
            Event.order(card, stream, source.stream)
    try:
        yield
    finally:
        with card.current():
            for stream in streams:
                Event.order(card, source.stream, stream)


def same_device(*arrays: Array) -> Device:
    """Return the common device of all arrays.

    Raise OptionError if the arrays are on several devices. Only the caller copies between devices.
    """
    first = arrays[0].device
    if any(array.device is not first and array.device != first for array in arrays):
        raise apart_error(*dict.fromkeys(array.device for array in arrays))
    return first


def apart_error(*devices: Device) -> OptionError:
    """Return the error for arrays on several devices."""
    listed = " and ".join(map(str, devices))
    return OptionError(f"the arrays lie on {listed}; move them to one device, nothing is copied between devices unasked")


def _empty_torch(source: Array, length: int, typestr: str) -> Any:
    name = TORCH_NAMES.get(typestr)
    if name is None:
        raise OptionError(f"PyTorch has no type {typestr!r}")
    return source.owner.new_empty(length, dtype=getattr(sys.modules["torch"], name))
