"""Reads address, length, type and device of callers' arrays: NumPy, CuPy, PyTorch, cuDF columns, and the array protocols.

No data is copied, and work runs on the device of the array. On a GPU, work is enqueued on the stream that the array's library
uses. It runs after the work that made the array and before the library's next work, and the host does not wait.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from headrace import _native
from headrace.arrays.device_array import DeviceArray
from headrace.core.device import Device
from headrace.core.errors import MissingDependencyError, OptionError, UnsupportedDeviceError
from headrace.core.fast_constructor import fast_constructor
from headrace.gpu.device.device import checked, driver, gpu, memory_views, start_driver

CPU = Device()
_KINDS = "biufmM"  # NumPy type kinds of fixed-width values: bool, integers, floats, durations, timestamps
_TEXTS = "US"  # NumPy type kinds of strings and bytes


def needed_numpy(what: str) -> Any:
    """Import NumPy, an optional dependency. `what`: the purpose, for the error message.

    Raise MissingDependencyError if NumPy is not installed.
    """
    try:
        import numpy as np
    except ImportError:
        raise MissingDependencyError.of("numpy", "numpy", what) from None
    return np


@dataclass(frozen=True, slots=True)
class Array:
    """Description of a caller's one-dimensional array."""

    address: int  # address of the first item
    length: int  # number of items
    typestr: str  # type of an item in NumPy's notation: ``"<u4"``
    device: Device  # device of the memory
    library: str  # ``"numpy"``, ``"cupy"``, ``"torch"``, ``"cudf"``, ``"headrace"``, or ``"other"``
    stream: int | None = None  # handle of the stream that the library uses; None on the CPU
    writable: bool = True  # True if the items may be changed
    owner: Any = field(default=None, repr=False, compare=False)  # the caller's object, which owns the memory

    @property
    def width(self) -> int:
        """Bytes per item."""
        return width_of(self.typestr)

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""
        return self.length * self.width

    def as_numpy(self) -> Any:
        """Return a host array as a NumPy array, without a copy."""
        np = needed_numpy("an array of the host")
        if not self.length:
            return np.empty(0, self.typestr)
        return np.asarray(_Described(self))


fast_array = fast_constructor(Array)  # creates an `Array` at a fifth of the cost of its class


class _Described:
    """A host array with NumPy's array interface. It keeps the array's owner."""

    def __init__(self, array: Array) -> None:
        self._owner = array.owner
        self.__array_interface__ = {
            "shape": (array.length,),
            "typestr": array.typestr,
            "data": (array.address, not array.writable),
            "version": 3,
        }


@lru_cache(256)
def width_of(typestr: str) -> int:
    """Return the bytes per item of a type in NumPy's notation."""
    return int(typestr[2:].partition("[")[0])


def integers_of_times(typestr: str) -> str:
    """Return the end of an error message that says how to pass instants and durations as integers; empty for other types.

    >>> integers_of_times("<M8[us]")
    "; view('int64') of a NumPy array gives the integers of datetime64[us]"
    >>> integers_of_times("<f4")
    ''
    """
    if typestr[1] not in "mM":
        return ""
    name = {"m": "timedelta64", "M": "datetime64"}[typestr[1]] + typestr[3:]
    return f"; view('int64') of a NumPy array gives the integers of {name}"


def take(value: Any, name: str = "array") -> Array:
    """Return the description of a caller's array.

    Raise OptionError if `value` is not an array, has another number of dimensions, gaps between its items, nulls, or items of
    another type.

    `value`: a contiguous array of one dimension.

    >>> import numpy as np
    >>> result = take(np.arange(5, dtype=np.uint32))
    >>> result.length, result.typestr, str(result.device), result.library
    (5, '<u4', 'cpu', 'numpy')
    """
    if type(value) is DeviceArray:
        buffer = value.buffer
        return fast_array(value.address, value.length, value.typestr, buffer.gpu.device, "headrace", buffer.stream, True, value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray:  # the common case, which has no mask: 2.4 us; the path below: 4 us
        return _described(value.__array_interface__, name, device=CPU, library="numpy", stream=None, owner=value)
    cupy = sys.modules.get("cupy")
    if cupy is not None and type(value) is getattr(cupy, "ndarray", None):
        return _take_cupy(value, name)
    root = type(value).__module__.partition(".")[0]
    if root == "torch" and hasattr(value, "data_ptr"):
        return _take_torch(value, name)
    described = _interface(value, "__cuda_array_interface__", name)
    if described is not None:
        return _take_cuda(value, described, root, name)
    if hasattr(value, "__array_interface__"):
        _check_no_mask(value, name)
        described = value.__array_interface__
        return _described(described, name, device=CPU, library="numpy" if root == "numpy" else "other", stream=None, owner=value)
    if hasattr(value, "__dlpack__"):
        return _take_dlpack(value, name)
    raise OptionError(
        f"{name} must be an array (NumPy, CuPy, PyTorch, cuDF, or of DLPack's protocol), not {type(value).__name__}"
    )


def _interface(value: Any, attribute: str, name: str) -> Any:
    """Return an attribute, or None. Errors that libraries raise for unsupported arrays become `OptionError`."""
    try:
        return getattr(value, attribute, None)
    except (TypeError, ValueError, RuntimeError) as error:
        raise OptionError(f"{name}: {error}") from error


def _described(described: dict[str, Any], name: str, *, device: Device, library: str, stream: int | None, owner: Any) -> Array:
    """Return the description of an array with NumPy's or CUDA's array interface."""
    shape, typestr = described["shape"], str(described["typestr"])
    if len(shape) != 1:
        raise OptionError(f"{name} must have one dimension, not {len(shape)}")
    if described.get("mask") is not None:
        raise OptionError(f"{name} has nulls; fill them or drop them first")
    _check_type(typestr, name)
    length = int(shape[0])
    address, readonly = described["data"]
    result = fast_array(int(address or 0), length, typestr, device, library, stream, not readonly, owner)
    strides = described.get("strides")
    if strides is not None and length > 1 and strides[0] != result.width:
        raise _gaps_error(name, strides[0])
    return result


def _check_no_mask(value: Any, name: str) -> None:
    """Reject masked arrays with nulls, whose array interface omits the mask. `Column.to_numpy` returns them for integers."""
    masked = sys.modules.get("numpy.ma")
    if masked is not None and masked.is_masked(value):
        raise OptionError(f"{name} has nulls; fill them or drop them first")


def _check_type(typestr: str, name: str) -> None:
    if typestr[1] in _TEXTS:
        raise OptionError(f"{name} has texts (items of type {typestr!r}); numbers, bools, instants and durations can be taken")
    if typestr[1] not in _KINDS:
        raise OptionError(f"{name} has items of type {typestr!r}; numbers, bools, instants and durations can be taken")
    if typestr[0] == ">":
        raise OptionError(f"{name} has items in big-endian order; convert them first")


def _take_cupy(value: Any, name: str) -> Array:
    """Return the description of a CuPy array, by its attributes: its array interface takes 3 us more."""
    if value.ndim != 1:
        raise OptionError(f"{name} must have one dimension, not {value.ndim}")
    typestr, length = value.dtype.str, value.size
    _check_type(typestr, name)
    if length > 1 and value.strides[0] != value.itemsize:
        raise _gaps_error(name, value.strides[0])
    return fast_array(value.data.ptr, length, typestr, _card(value.device.id), "cupy", cupy_stream(), True, value)


def _gaps_error(name: str, stride: int) -> OptionError:
    """Return the error for an array whose items are `stride` bytes apart."""
    return OptionError(f"{name} has gaps between its items (a stride of {stride} bytes); pass a contiguous copy")


def _take_cuda(value: Any, described: dict[str, Any], root: str, name: str) -> Array:
    address = int(described["data"][0] or 0)
    library = root if root in {"cupy", "cudf"} else "other"
    device = _device_of(address, value)
    stream = described.get("stream")
    if library in {"cupy", "cudf"}:
        stream = cupy_stream()
    return _described(described, name, device=device, library=library, stream=1 if stream is None else int(stream), owner=value)


def _device_of(address: int, value: Any) -> Device:
    """Return the GPU of an address. An empty array without a device counts as one on the first GPU."""
    index = getattr(getattr(value, "device", None), "id", None)
    if isinstance(index, int):
        return _card(index)
    if address == 0:
        return _card(0)
    start_driver()
    functions = driver()
    ordinal = functions.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return _card(int(checked(functions.cuPointerGetAttribute(ordinal, address))))


@cache
def _card(index: int) -> Device:
    return Device("cuda", index)


def cupy_stream() -> int:
    """Return the handle of CuPy's current stream."""
    cupy = sys.modules.get("cupy")
    return 1 if cupy is None else cupy.cuda.get_current_stream().ptr or 1


def _take_torch(value: Any, name: str) -> Array:
    if constant_name(value.layout) != "torch.strided":
        raise OptionError(f"{name} is a sparse tensor; pass a dense one")
    if value.dim() != 1:
        raise OptionError(f"{name} must have one dimension, not {value.dim()}")
    if value.numel() > 1 and value.stride(0) != 1:
        raise OptionError(f"{name} has gaps between its items; pass .contiguous()")
    typestr = _typestr_of(value.dtype)
    if typestr is None:
        raise OptionError(f"{name} has items of type {value.dtype}; numbers of up to 64 bits and bools can be taken")
    device = value.device
    kind = device.type
    if kind not in {"cpu", "cuda"}:
        raise UnsupportedDeviceError(f"{name} lies on {device}; CPU and CUDA devices are supported")
    if kind == "cpu":
        return Array(value.data_ptr(), value.numel(), typestr, CPU, "torch", None, True, value)
    index = device.index or 0
    # Handle 0 names the default stream of the current context; 1 names that of the tensor's GPU.
    stream = torch_stream(sys.modules["torch"], index) or 1
    return fast_array(value.data_ptr(), value.numel(), typestr, gpu(index).device, "torch", stream, True, value)


def host_array(value: Any, typestr: str) -> Array:
    """Return the description of a NumPy array that has one dimension, no gaps and that type, without a check."""
    address, is_writable = _native.address_of_array(value), value.flags.writeable
    return fast_array(address, value.size, typestr, CPU, "numpy", None, is_writable, value)


def plain_array(value: Any, typestr: str, device: Device) -> Array | None:
    """Return the description of an array that has one dimension, no gaps, aligned items, and that type on that device.

    It is one of NumPy on the CPU, and a tensor of PyTorch on a GPU. Return None for any other value. `take` describes more
    arrays, by more calls.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray:
        is_plain = value.ndim == 1 and value.dtype.str == typestr and value.flags.c_contiguous and value.flags.aligned
        return host_array(value, typestr) if is_plain and device.kind == "cpu" else None
    torch = sys.modules.get("torch")
    if torch is None or type(value) is not getattr(torch, "Tensor", None) or not value.is_cuda:
        return None
    if value.layout is not torch.strided or value.dim() != 1 or not value.is_contiguous():
        return None
    index = value.get_device()
    if index != device.index or device.kind != "cuda" or _typestr_of(value.dtype) != typestr:
        return None
    stream = torch_stream(torch, index) or 1  # as in _take_torch
    return fast_array(value.data_ptr(), value.numel(), typestr, device, "torch", stream, True, value)


@lru_cache(64)
def _typestr_of(dtype: Any) -> str | None:
    """Return NumPy's notation of a type of PyTorch, or None."""
    return TORCH_TYPES.get(constant_name(dtype).removeprefix("torch."))


@lru_cache(64)
def constant_name(constant: Any) -> str:
    """Return the name of a constant of PyTorch. It is cached, because PyTorch takes a microsecond to format it."""
    return str(constant)


def torch_stream(torch: Any, index: int) -> int:
    """Return the handle of PyTorch's current stream. The private function takes 0.2 us, a stream object 6 us."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # noqa: SLF001  # not public, and may go
    return int(torch.cuda.current_stream(index).cuda_stream if raw is None else raw(index))


TORCH_TYPES = {
    "bool": "|b1",
    "uint8": "|u1",
    "int8": "|i1",
    "uint16": "<u2",
    "int16": "<i2",
    "uint32": "<u4",
    "int32": "<i4",
    "uint64": "<u8",
    "int64": "<i8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
}
TORCH_NAMES = {typestr: name for name, typestr in TORCH_TYPES.items()}  # names of PyTorch's types by NumPy's notation


_DLPACK_CPU, _DLPACK_CUDA = 1, 2


def _take_dlpack(value: Any, name: str) -> Array:
    """Return the description of an array that supports only DLPack, such as one of JAX."""
    kind, index = (int(part) for part in value.__dlpack_device__())
    try:
        if kind == _DLPACK_CPU:
            np = needed_numpy(f"{name}, an array of DLPack's protocol,")
            view = np.from_dlpack(value)
            return _described(view.__array_interface__, name, device=CPU, library="other", stream=None, owner=view)
        if kind == _DLPACK_CUDA:
            return _take_dlpack_on(Device("cuda", index), value, name)
    except (BufferError, TypeError, ValueError) as error:
        raise OptionError(f"{name}: {error}") from error
    raise UnsupportedDeviceError(f"{name} lies on a device of DLPack's kind {kind}; CPU (1) and CUDA (2) are supported")


def _take_dlpack_on(device: Device, value: Any, name: str) -> Array:
    stream = gpu(device).stream
    view = memory_views().StridedMemoryView.from_dlpack(value, stream)  # `stream` waits for the producer's stream
    strides = None if view.strides is None else tuple(step * view.dtype.itemsize for step in view.strides)
    described = {"shape": view.shape, "typestr": view.dtype.str, "data": (view.ptr, view.readonly), "strides": strides}
    return _described(described, name, device=device, library="other", stream=stream, owner=view)
