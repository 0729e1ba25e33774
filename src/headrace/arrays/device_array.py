"""Defines an array on a GPU: a buffer with a type and a length that other GPU libraries accept without a copy."""

from __future__ import annotations

from typing import Any

from headrace.arrays.arrow_device import DeviceColumn, device_capsules
from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, gpu, memory_views
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import PoolBuffer, device_pool
from headrace.gpu.transfer.staging import staging

_DLPACK_CUDA = 2
_ARROW_FORMATS = dict(zip(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"], "cCsSiIlLefg", strict=True))
_ARROW_FORMATS |= {f"M8[{unit}]": f"ts{unit[0]}:" for unit in ("s", "ms", "us", "ns")}
_ARROW_FORMATS |= {f"m8[{unit}]": f"tD{unit[0]}" for unit in ("s", "ms", "us", "ns")}


class DeviceArray:
    """An array of one dimension on a GPU.

    CuPy, PyTorch, Numba and JAX accept it without a copy, through ``__cuda_array_interface__`` or DLPack. Their streams wait for
    the work that fills it. For PyTorch, use ``torch.from_dlpack``: ``torch.as_tensor`` uses the interface but ignores its stream.

    Parameters
    ----------
    buffer
        The memory.
    typestr
        Type of an item in NumPy's notation: ``"<u4"``.
    length
        Number of items.
    first
        Index in the buffer of the first item.
    """

    __slots__ = ("buffer", "first", "length", "typestr")

    def __init__(self, buffer: PoolBuffer, typestr: str, length: int, first: int = 0) -> None:
        self.buffer = buffer
        self.typestr = typestr
        self.length = length
        self.first = first

    @classmethod
    def from_host(
        cls,
        values: Any,
        device: Gpu | Device | str = "cuda",
        *,
        stream: int | None = None,
        counted: Crossings | None = None,
        budget: Budget | None = None,
    ) -> DeviceArray:
        """Copy a host array to a GPU.

        Parameters
        ----------
        values
            A NumPy array of one dimension, or an object that NumPy converts to one.
        device
            The GPU, for example ``"cuda:1"``.
        stream
            Handle of the stream that uses the array; None for the GPU's own stream.
        counted
            Counter of the bytes copied.
        budget
            Budget that the memory is charged to.

        Raises
        ------
        OptionError
            `values` has another number of dimensions, nulls, or items of another type.
        MemoryLimitError
            The array does not fit.
        """
        import numpy as np  # a dependency of cuda-core

        from headrace.arrays.arrays import take  # which imports this module

        plain = take(np.require(values, None, "C"), "values").as_numpy()
        card = device if isinstance(device, Gpu) else gpu(Device.parse(device))
        buffer = device_pool(card).take(plain.nbytes, stream, budget)
        if plain.nbytes:
            staging(card).upload(plain.view(np.uint8).data, buffer, counted=counted or Crossings())
        return cls(buffer, plain.dtype.str, len(plain))

    def to_numpy(self, *, counted: Crossings | None = None) -> Any:
        """Copy to a NumPy array on the host.

        Parameters
        ----------
        counted
            Counter of the bytes copied.
        """
        import numpy as np  # a dependency of cuda-core

        host: np.ndarray[Any, Any] = np.empty(self.length, self.typestr)
        if host.nbytes:
            begin = self.first * host.itemsize
            staging(self.buffer.gpu).download(self.buffer, host.view(np.uint8).data, offset=begin, counted=counted or Crossings())
        return host

    @property
    def address(self) -> int:
        """Address of the first item."""
        begin = self.buffer.address
        return begin + self.first * int(self.typestr[2:].partition("[")[0]) if self.first else begin

    @property
    def device(self) -> Device:
        """The GPU of the memory."""
        return self.buffer.device

    @property
    def stream(self) -> int:
        """Handle of the stream that fills the array."""
        return self.buffer.stream

    def __len__(self) -> int:
        return self.length

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.buffer.__cuda_array_interface__ | {
            "shape": (self.length,),
            "typestr": self.typestr,
            "data": (self.address, False),
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CUDA, self.device.index

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy or dl_device not in {None, self.__dlpack_device__()}:
            raise BufferError("an array on a GPU is handed over where it lies and without a copy")
        if stream != -1:  # -1: the consumer orders its work itself
            taker = 1 if stream is None else stream  # the standard's default is the legacy default stream
            Event(self.buffer.gpu).record(self.stream).hold(taker)
            self.buffer.used_by(taker)
        # The capsule's owner is an array whose interface names no stream, because the event above already orders the work.
        return (
            memory_views()
            .StridedMemoryView.from_cuda_array_interface(_Unordered(self), -1)
            .__dlpack__(stream=-1, max_version=max_version)
        )

    def __arrow_c_device_array__(self, requested_schema: object = None, **options: object) -> tuple[object, object]:
        """Export as a column without nulls through Arrow's C device interface, without a copy. A requested schema is ignored."""
        arrow_format = _ARROW_FORMATS.get(self.typestr[1:])
        if arrow_format is None:
            raise TypeError(f"Arrow has no type for items of {self.typestr!r} in memory as it is")
        event = Event(self.buffer.gpu).record(self.stream)
        self.buffer.show()
        return device_capsules(DeviceColumn(arrow_format, self.length, 0, (0, self.address), self.device, self, event))

    def __repr__(self) -> str:
        return f"DeviceArray({self.length:_} of {self.typestr!r} on {self.device})"


class _Unordered:
    """An array whose CUDA array interface names no stream. It keeps the array."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        described = self._array.__cuda_array_interface__
        del described["stream"]
        return described
