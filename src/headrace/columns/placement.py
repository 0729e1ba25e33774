"""Columns on their way between host and GPU, and the protocols by which other libraries take them where they lie.

Nothing here imports a GPU's libraries before a column is on one, or is to go there.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from headrace.columns.own_rows import RowParts, part_of_host, with_own_rows
from headrace.core.buffer import copy_of, empty_buffer
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError
from headrace.core.transfers import Crossings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headrace.arrays.arrow_device import DeviceColumn
    from headrace.arrays.device_array import DeviceArray
    from headrace.columns.column import Column
    from headrace.core.budget import Budget
    from headrace.core.buffer import Buffer

_CPU = Device()


class Placed:
    """What a column says of where it lies; the base of `Column`."""

    __slots__ = ()

    @property
    def device(self) -> Device:
        """Where its memory is."""
        return Device.parse(cast("Column", self).values.device)

    def to(self, device: Device | str, *, context: Context | None = None) -> Column:
        """The column on a device; itself if it is there.

        Parameters
        ----------
        device
            ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        context
            Its memory limit bounds what is taken of a GPU, and its `Context.crossings` count what crosses.

        Raises
        ------
        OptionError
            It lies on another GPU: take it to the host first.
        MemoryLimitError
            It does not fit.
        """
        return moved_all({"": cast("Column", self)}, device, context)[""]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        column = cast("Column", self)
        refusal = "it lies on the host" if column.device == _CPU else _no_plain_array(column)
        if refusal:
            raise AttributeError(f"a column of {column.type} has no __cuda_array_interface__ here: {refusal}")
        return _array(column, f"<{_code(column)}").__cuda_array_interface__

    def __dlpack_device__(self) -> tuple[int, int]:
        """Kind of device by DLPack's numbers, and which one."""
        device = self.device
        return (1, 0) if device == _CPU else (2, device.index)

    def __dlpack__(self, **options: Any) -> Any:
        """DLPack: the values without a copy; dates, times and timestamps as the integers that they are.

        Raises
        ------
        BufferError
            The column has nulls, or values that are no numbers of 8 to 64 bits.
        """
        column = cast("Column", self)
        if refusal := _no_plain_array(column):
            raise BufferError(f"a column of {column.type} cannot be handed over by DLPack: {refusal}")
        code = _code(column) if column.type.is_numeric else f"i{column.type.bits // 8}"
        if column.device == _CPU:
            return column.to_numpy().view(f"<{code}").__dlpack__(**options)
        return _array(column, f"<{code}").__dlpack__(**options)

    def __arrow_c_device_array__(self, requested_schema: object = None, **options: object) -> tuple[object, object]:
        """Arrow C device interface: the column without a copy, where it lies. A requested schema is ignored, as is allowed."""
        from headrace.arrays.arrow_device import device_capsules  # seldom needed

        return device_capsules(describe(cast("Column", self)))


def moved_all(columns: Mapping[str, Column], device: Device | str, context: Context | None = None) -> dict[str, Column]:
    """The columns on a device, within one memory limit; see `Placed.to`."""
    target, context = Device.parse(device), context_of(context)
    budget = context.new_budget()
    return {name: _to(column, target, context.crossings, budget) for name, column in columns.items()}


def _to(column: Column, target: Device, crossings: Crossings, budget: Budget) -> Column:
    if column.device == target:
        return column
    if column.device == _CPU:
        return _to_gpu(column, target, crossings, budget)
    if target != _CPU:
        raise OptionError(f"the column lies on {column.device} and cannot go to {target} at once; take it to 'cpu' first")
    return _to_host(column, crossings)


def describe(column: Column, name: str = "") -> DeviceColumn:
    """The column as Arrow's device interface has it; its buffers are shown to other libraries from then on."""
    from headrace.arrays.arrow_device import DeviceColumn  # seldom needed

    _, arrow_format, null_count, offset, buffers, _ = column.arrow_description(name)
    return DeviceColumn(
        format=arrow_format,
        length=column.length,
        null_count=null_count,
        buffers=[0 if buffer is None else buffer.address for buffer in buffers],
        device=column.device,
        owner=(column, buffers),
        event=filled([column]),
        name=name,
        offset=offset,
        dictionary=None if column.dictionary is None else describe(column.dictionary),
    )


def filled(columns: Iterable[Column]) -> Any:
    """An event that is done when the memory of all of them, which lie on one device, is filled; None on the host."""
    last = None
    for column in columns:
        if column.device == _CPU:
            continue
        from headrace.gpu.device.event import Event

        for buffer in _buffers(column):
            buffer.show()  # type: ignore[attr-defined]  # of a GPU
        values: Any = column.values
        if last is not None:
            last.hold(values.stream)  # each waits for the one before, so the last one is last
        last = Event(values.gpu).record(values.stream)
    return last


def _no_plain_array(column: Column) -> str:
    """Why the column is no array of numbers; empty if it is one."""
    if column.type.numpy_name is None:
        return "its values are no numbers of 8 to 64 bits"
    return "it has nulls" if column.null_count else ""


def _code(column: Column) -> str:
    """The type as arrays write it, without byte order: ``"u4"``, ``"M8[us]"``."""
    name = column.type.numpy_name or ""
    kind, _, unit = name.partition("64[")
    if unit:
        return f"{'M' if kind == 'datetime' else 'm'}8[{unit}"
    return f"{name[0]}{column.type.bits // 8}"


def _array(column: Column, typestr: str) -> DeviceArray:
    from headrace.arrays.device_array import DeviceArray

    return DeviceArray(cast("Any", column.values), typestr, column.length, column.offset)


def _buffers(column: Column) -> list[Buffer]:
    return [buffer for buffer in (column.values, column.validity, column.offsets, *column.data) if buffer is not None]


def _to_gpu(column: Column, device: Device, crossings: Crossings, budget: Budget) -> Column:
    from headrace.gpu.device.device import gpu
    from headrace.gpu.memory.pool import device_pool
    from headrace.gpu.transfer.staging import staging

    card = gpu(device)

    def moved(part: Any) -> Any:
        view = memoryview(part).cast("B")
        taken = device_pool(card).take(view.nbytes, budget=budget)
        if view.nbytes:
            staging(card).upload(view, taken, counted=crossings)
        return taken

    own = with_own_rows(column.compact(), part_of_host)
    return _moved(own, moved, lambda inner: _to_gpu(inner, device, crossings, budget))


def _to_host(column: Column, crossings: Crossings) -> Column:
    import ctypes

    from headrace.gpu.transfer.staging import staging

    def read(buffer: Any, begin: int, end: int) -> Buffer:
        made = empty_buffer(end - begin)
        if end > begin:
            target = (ctypes.c_char * (end - begin)).from_address(made.address)
            staging(buffer.gpu).download(buffer, target, offset=begin, counted=crossings)
        return made

    def kept(part: Any) -> Buffer:
        return copy_of(part) if isinstance(part, array) else part

    found = _moved(with_own_rows(column, read), kept, lambda inner: _to_host(inner, crossings))
    return found.slice(0, found.length) if found.null_count < 0 else found


def _moved(own: RowParts, moved: Callable[[Any], Any], inner: Callable[[Column], Column]) -> Column:
    made = RowParts(own.shape, [None if part is None else moved(part) for part in own.parts]).column()
    return made if made.dictionary is None else replace(made, dictionary=inner(made.dictionary))
