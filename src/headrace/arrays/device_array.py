"""An array on a GPU: a buffer with a type and a length, in the words of every library that has arrays there."""

from __future__ import annotations

from typing import Any

from headrace.arrays.arrow_device import DeviceColumn, device_capsules
from headrace.core.budget import Budget
from headrace.core.device import Device
from headrace.core.transfers import Crossings
from headrace.gpu.device.device import Gpu, gpu, memory_views
from headrace.gpu.device.event import Event
from headrace.gpu.memory.pool import DeviceBuffer, device_pool
from headrace.gpu.transfer.staging import staging

_DLPACK_CUDA = 2
_ARROW_FORMATS = dict(zip(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"], "cCsSiIlLefg", strict=True))
_ARROW_FORMATS |= {f"M8[{unit}]": f"ts{unit[0]}:" for unit in ("s", "ms", "us", "ns")}
_ARROW_FORMATS |= {f"m8[{unit}]": f"tD{unit[0]}" for unit in ("s", "ms", "us", "ns")}


class DeviceArray:
    """An array of one dimension on a GPU.

    CuPy, PyTorch, Numba and JAX take it without a copy, through ``__cuda_array_interface__`` or DLPack; their streams wait for
    the work that fills it. PyTorch's does so through ``torch.from_dlpack``: ``torch.as_tensor`` takes the interface and does not
    look at the stream that it names.

    Parameters
    ----------
    buffer
        Its memory.
    typestr
        Type of an item, as NumPy writes it: ``"<u4"``.
    length
        How many items.
    first
        Which item of the buffer is the first.
    """

    __slots__ = ("buffer", "first", "length", "typestr")

    def __init__(self, buffer: DeviceBuffer, typestr: str, length: int, first: int = 0) -> None:
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
        """A copy of an array of the host.

        Parameters
        ----------
        values
            A NumPy array of one dimension, or what NumPy makes one of.
        device
            Which GPU: ``"cuda:1"``, say.
        stream
            Handle of the stream that it will be used in; None for the card's own.
        counted
            Where the crossing is counted.
        budget
            What its memory is counted in.

        Raises
        ------
        OptionError
            It has another shape, nulls, or items that are no numbers.
        MemoryLimitError
            It does not fit.
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
        """A copy as a NumPy array, on the host.

        Parameters
        ----------
        counted
            Where the crossing is counted.
        """
        import numpy as np  # a dependency of cuda-core

        host: np.ndarray[Any, Any] = np.empty(self.length, self.typestr)
        if host.nbytes:
            begin = self.first * host.itemsize
            staging(self.buffer.gpu).download(self.buffer, host.view(np.uint8).data, offset=begin, counted=counted or Crossings())
        return host

    @property
    def address(self) -> int:
        """Where its first item is."""
        return self.buffer.address + self.first * int(self.typestr[2:].partition("[")[0])

    @property
    def device(self) -> Device:
        """Where it lies."""
        return self.buffer.device

    @property
    def stream(self) -> int:
        """Handle of the stream that fills it."""
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
        if stream != -1:  # -1: the consumer takes care of the order
            taker = 1 if stream is None else stream  # the standard's default is the legacy default stream
            Event(self.buffer.gpu).record(self.stream).hold(taker)
            self.buffer.used_by(taker)
        # The array is the owner of what is handed over; its own interface tells no stream, for the order is kept above.
        return (
            memory_views()
            .StridedMemoryView.from_cuda_array_interface(_Unordered(self), -1)
            .__dlpack__(stream=-1, max_version=max_version)
        )

    def __arrow_c_device_array__(self, requested_schema: object = None, **options: object) -> tuple[object, object]:
        """Arrow C device interface: a column without nulls, without a copy. A requested schema is ignored, which is allowed."""
        arrow_format = _ARROW_FORMATS.get(self.typestr[1:])
        if arrow_format is None:
            raise TypeError(f"Arrow has no type for items of {self.typestr!r} in memory as it is")
        event = Event(self.buffer.gpu).record(self.stream)
        self.buffer.show()
        return device_capsules(DeviceColumn(arrow_format, self.length, 0, (0, self.address), self.device, self, event))

    def __repr__(self) -> str:
        return f"DeviceArray({self.length:_} of {self.typestr!r} on {self.device})"


class _Unordered:
    """An array whose interface names no stream; keeps the array."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        described = self._array.__cuda_array_interface__
        del described["stream"]
        return described
