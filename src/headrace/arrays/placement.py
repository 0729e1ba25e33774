"""Where the work of a call runs and its result lies: an input brought to the device that the context names, a result of its kind.

A result is an array of the same library as the input, from that library's own memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headrace import _native
from headrace.arrays.arrays import TORCH_TYPES, Array, needed_numpy, take, width_of
from headrace.arrays.device_array import DeviceArray
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.gpu.device.device import gpu, is_lasting
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import device_pool

_REUSED_FROM = 1 << 20
"""Bytes from which on memory of results is kept for the next ones (core/cpu/memory.hpp)."""


def placed(value: Any, name: str, context: Context, budget: Budget | None = None) -> Array:
    """A caller's array where the work is to run: where it lies, or on the GPU that the context names if it is on the host.

    Parameters
    ----------
    value, name
        As in `take`.
    context
        Its `Context.device`; a copy is counted in its `Context.crossings`.
    budget
        What the memory of a copy is counted in.

    Raises
    ------
    OptionError
        As in `take`; or it lies on another GPU than the one named.
    """
    source, wanted = take(value, name), context.device
    if wanted.kind == "cpu" or source.device == wanted:
        return source
    if source.device.kind != "cpu":
        raise OptionError(f"{name} lies on {source.device}, and the context names {wanted}; nothing is copied between GPUs")
    return take(DeviceArray.from_host(source.as_numpy(), gpu(wanted), counted=context.crossings, budget=budget), name)


def empty_like(source: Array, length: int, typestr: str | None = None, budget: Budget | None = None) -> Array:
    """A new array for a result: of the same library, on the same device, for the same stream; its contents are anything.

    Parameters
    ----------
    source
        The input.
    length
        Items of the result.
    typestr
        Their type; None for that of the input.
    budget
        What it is counted in.

    Returns
    -------
    Array
        The caller's object is its `owner`. Input of another library gives NumPy on the CPU, and a `DeviceArray` on a GPU, which
        belongs to the card's own stream where the input's may not last (see `in_stream_of`); a column of cuDF gives CuPy, which
        cuDF takes as it is.
    """
    typestr = source.typestr if typestr is None else typestr
    width = width_of(typestr)
    if source.device.kind != "cpu" and source.library not in {"torch", "cupy", "cudf"}:
        stream = source.stream if is_lasting(source.stream) else None
        buffer = device_pool(gpu(source.device)).take(length * width, stream, budget)
        return take(DeviceArray(buffer, typestr, length))
    if budget is not None:
        budget.charge(length * width)  # of another library's memory; it stays taken
    if source.library == "torch":
        made = source.owner.new_empty(length) if typestr == source.typestr else _empty_torch(source, length, typestr)
        return Array(made.data_ptr(), length, typestr, source.device, "torch", source.stream, True, made)
    if source.device.kind == "cpu":
        return take(_empty_numpy(length, typestr))
    import cupy

    with cupy.cuda.Device(source.device.index):
        made = cupy.empty(length, typestr)
    return take(made)


@contextmanager
def in_stream_of(source: Array, *others: Array) -> Iterator[None]:
    """Work for the stream of `source` that reads or writes other arrays of its device as well.

    What is told to that stream inside comes after what their streams were told before, and before what they are told next. On
    the host, and where all have one stream, this does nothing.
    """
    streams = {other.stream for other in others if other.stream is not None and other.stream != source.stream}
    if source.stream is None or not streams:
        yield
        return
    card = gpu(source.device)
    for stream in streams:
        Event(card).record(stream).hold(source.stream)
    try:
        yield
    finally:
        done = Event(card).record(source.stream)
        for stream in streams:
            done.hold(stream)


def _empty_numpy(length: int, typestr: str) -> Any:
    """Large arrays are in memory that earlier ones gave back, if there is some: to touch new memory costs more than most work."""
    np = needed_numpy("an array on the host")
    dtype = np.dtype(typestr)
    if length * dtype.itemsize < _REUSED_FROM:
        return np.empty(length, dtype)
    return _native.new_bytes(length * dtype.itemsize).view(dtype)


def same_device(*arrays: Array) -> Device:
    """Where all of them lie.

    Raises
    ------
    OptionError
        They lie on several devices: nothing crosses unless the caller moves it.
    """
    devices = list(dict.fromkeys(array.device for array in arrays))
    if len(devices) > 1:
        raise apart_error(*devices)
    return devices[0]


def apart_error(*devices: Device) -> OptionError:
    """What is said of arrays on several devices."""
    listed = " and ".join(map(str, devices))
    return OptionError(f"the arrays lie on {listed}; move them to one device, nothing is copied between devices unasked")


def _empty_torch(source: Array, length: int, typestr: str) -> Any:
    torch = sys.modules["torch"]
    names = {described: name for name, described in TORCH_TYPES.items()}
    if typestr not in names:
        raise OptionError(f"PyTorch has no type {typestr!r}")
    place = "cpu" if source.device.kind == "cpu" else f"cuda:{source.device.index}"
    return torch.empty(length, dtype=getattr(torch, names[typestr]), device=place)
