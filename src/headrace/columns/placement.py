"""Moves columns between host and GPU, and implements the protocols by which other libraries read them in place.

GPU libraries are imported only when a column is on a GPU or is moved to one.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from headrace.columns.row_slice import RowParts, part_of_host, sliced_parts
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
    """Device-related methods of a column; the base of `Column`."""

    __slots__ = ()

    @property
    def device(self) -> Device:
        """The device of the column's memory."""
        return Device.parse(cast("Column", self).values.device)

    def to(self, device: Device | str, *, context: Context | None = None) -> Column:
        """Return the column on a device; the column itself if it is there already.

        Parameters
        ----------
        device
            ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        context
            Its memory limit bounds the GPU memory taken, and its `Context.crossings` count the copies.

        Raises
        ------
        OptionError
            The column is on another GPU: copy it to the host first.
        MemoryLimitError
            The column does not fit in memory.
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
        """Return DLPack's device type and device number."""
        device = self.device
        return (1, 0) if device == _CPU else (2, device.index)

    def __dlpack__(self, **options: Any) -> Any:
        """Export the values by DLPack without a copy; dates, times and timestamps as their integers.

        Raises
        ------
        BufferError
            The column has nulls, or values other than numbers of 8 to 64 bits.
        """
        column = cast("Column", self)
        if refusal := _no_plain_array(column):
            raise BufferError(f"a column of {column.type} cannot be handed over by DLPack: {refusal}")
        code = _code(column) if column.type.is_numeric else f"i{column.type.bits // 8}"
        if column.device == _CPU:
            from headrace.columns.as_numpy import in_memory  # NumPy is optional, and slow to import

            return in_memory(column).view(f"<{code}").__dlpack__(**options)
        return _array(column, f"<{code}").__dlpack__(**options)

    def __arrow_c_device_array__(self, requested_schema: object = None, **options: object) -> tuple[object, object]:
        """Export by the Arrow C device interface, without a copy. A requested schema is ignored, as the interface allows."""
        from headrace.arrays.arrow_device import device_capsules  # seldom needed

        return device_capsules(describe(cast("Column", self)))


def moved_all(columns: Mapping[str, Column], device: Device | str, context: Context | None = None) -> dict[str, Column]:
    """Return the columns on a device, within one memory limit; see `Placed.to`."""
    target, context = Device.parse(device), context_of(context)
    budget = context.new_budget()
    return {name: column_to(column, target, context.crossings, budget) for name, column in columns.items()}


def one_device(columns: Mapping[str, Column]) -> Device:
    """Return the device of columns; the CPU for none. Raise OptionError if they lie on several devices."""
    devices = {column.device for column in columns.values()}
    if len(devices) > 1:
        raise OptionError(f"columns lie on {' and '.join(sorted(map(str, devices)))}; bring the table to one of them: table.to()")
    return next(iter(devices), Device())


def column_to(column: Column, target: Device, crossings: Crossings, budget: Budget) -> Column:
    """Return the column on `target`, copied if it is elsewhere."""
    if column.device == target:
        return column
    if column.device == _CPU:
        return _to_gpu(column, target, crossings, budget)
    if target != _CPU:
        raise OptionError(f"the column lies on {column.device} and cannot go to {target} at once; take it to 'cpu' first")
    return _to_host(column, crossings)


def describe(column: Column, name: str = "") -> DeviceColumn:
    """Return the column's description for Arrow's device interface. Its buffers are shared with other libraries from then on."""
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
    """Return an event that completes when all columns, on one device, are written; None on the host."""
    last = None
    for column in columns:
        if column.device == _CPU:
            continue
        from headrace.gpu.device.event import Event

        for buffer in _buffers(column):
            buffer.show()  # type: ignore[attr-defined]  # a GPU buffer
        values: Any = column.values
        if last is not None:
            last.hold(values.stream)  # each event waits for the previous one, so the last completes last
        last = Event(values.gpu).record(values.stream)
    return last


def _no_plain_array(column: Column) -> str:
    """Return why the column is not an array of numbers; empty if it is one."""
    if column.type.numpy_name is None:
        return "its values are no numbers of 8 to 64 bits"
    return "it has nulls" if column.null_count else ""


def _code(column: Column) -> str:
    """Return the type's array typestr without byte order, such as ``"u4"`` or ``"M8[us]"``."""
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

    gpu_device = gpu(device)

    def moved(part: Any) -> Any:
        view = memoryview(part).cast("B")
        result = device_pool(gpu_device).take(view.nbytes, budget=budget)
        if view.nbytes:
            staging(gpu_device).upload(view, result, counted=crossings)
        return result

    parts = sliced_parts(column.compact(), part_of_host)
    return _moved(parts, moved, lambda inner: _to_gpu(inner, device, crossings, budget))


def _to_host(column: Column, crossings: Crossings) -> Column:
    import ctypes

    from headrace.gpu.transfer.staging import staging

    def read(buffer: Any, begin: int, end: int) -> Buffer:
        result = empty_buffer(end - begin)
        if end > begin:
            target = (ctypes.c_char * (end - begin)).from_address(result.address)
            staging(buffer.gpu).download(buffer, target, offset=begin, counted=crossings)
        return result

    def host_part(part: Any) -> Buffer:
        return copy_of(part) if isinstance(part, array) else part

    result = _moved(sliced_parts(column, read), host_part, lambda inner: _to_host(inner, crossings))
    return result.slice(0, result.length) if result.null_count < 0 else result


def _moved(parts: RowParts, moved: Callable[[Any], Any], inner: Callable[[Column], Column]) -> Column:
    result = RowParts(parts.shape, [None if part is None else moved(part) for part in parts.parts]).column()
    return result if result.dictionary is None else replace(result, dictionary=inner(result.dictionary))
