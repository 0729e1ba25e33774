"""Represents one column in Arrow's memory layout, read with the standard library alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, Any, NoReturn, overload

from headrace import _native
from headrace.columns.placement import Placed
from headrace.columns.traits import FAMILIES, TRAITS, UNITS
from headrace.columns.types import DataType, has_offsets
from headrace.columns.zone import zone_named
from headrace.core.buffer import Buffer, copy_of
from headrace.core.errors import OptionError, OutOfRangeError, shown
from headrace.core.fast_constructor import fast_constructor
from headrace.core.foreign_names import ForeignNames
from headrace.core.options import index_of, instance, integer

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Column(Placed, ForeignNames):
    """Values of one type, some of them null, on the host or on a GPU.

    Parameters
    ----------
    type
        Type of all values.
    length
        Number of rows.
    null_count
        Number of null rows; -1 if they are not counted, as in a slice on a GPU.
    values
        Fixed-width values. For bool one bit each, least significant first. For strings and bytes their bytes. For string views
        the views. For a dictionary the codes. Empty for nulls.
    validity
        One bit per row, 1 for a value; None if no row is null, and in a column of type null.
    offsets
        Strings and bytes: the begin of each row's bytes, and the end of the last row's.
    offset
        Rows to skip at the begin of all buffers; a slice shares its buffers.
    data
        String views: the buffers with texts of more than 12 bytes, each under 2^31 bytes.
    dictionary
        Dictionary: the distinct texts that the codes refer to, in the order of their first rows.
    """

    type: DataType
    length: int
    null_count: int
    values: Buffer
    validity: Buffer | None = None
    offsets: Buffer | None = None
    offset: int = 0
    data: tuple[Buffer, ...] = ()
    dictionary: Column | None = None

    def __post_init__(self) -> None:
        check_column(self)

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_pylist())

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> Column: ...
    def __getitem__(self, key: int | slice) -> Any:
        """Return a row's value, None for null; or for a slice with step 1 a column that shares this one's memory."""
        if isinstance(key, slice):
            start, stop, step = key.indices(self.length)
            if step != 1:
                raise OptionError(f"a slice of a column must have step 1, not {step}")
            return self.slice(start, max(stop - start, 0))
        number = index_of(key)
        if number is None:
            raise TypeError(f"key must be the number of a row or a slice, not {shown(key)}")
        row = number + self.length if number < 0 else number
        if not 0 <= row < self.length:
            raise OutOfRangeError(f"row {shown(number)} of a column with {self.length} rows")
        return self.slice(row, 1).to_pylist()[0]

    def _refuse_comparison(self, other: object) -> NoReturn:
        raise TypeError(f"columns have no operators: table.filter(headrace.col(name) > {shown(other)}) selects rows")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_comparison

    def slice(self, start: int, length: int) -> Column:
        """Return `length` rows from `start` on, without a copy.

        Raises
        ------
        OptionError
            The column does not have these rows.
        """
        start = integer("start", start, f"the number of a row, from 0 to {self.length}", 0, self.length)
        rest = self.length - start
        length = integer("length", length, f"a number of rows, from 0 to {rest}", 0, rest)
        nulls = length if self.type.name == "null" else 0
        if self.validity is not None:
            on_host = self.device.kind == "cpu"
            nulls = length - _count_set(self.validity, self.offset + start, length) if on_host else -1
        validity = self.validity if nulls else None
        return replace(self, offset=self.offset + start, length=length, null_count=nulls, validity=validity)

    def to_pylist(self) -> list[Any]:
        """Return all rows as Python values; null is None.

        Timestamps with a time zone are aware, in that zone. Timestamps in nanoseconds become integers of nanoseconds since 1970,
        since `datetime` would truncate them. So do timestamps outside the range of `datetime` (years 1 to 9999). Times and
        durations in nanoseconds, and durations over 999999999 days, become integers of their unit. Decimals are
        `decimal.Decimal`. A column on a GPU is copied to the host first.
        """
        if self.device.kind != "cpu":
            return self.to("cpu").to_pylist()
        if self.dictionary is not None:
            texts = [*self.dictionary.to_pylist(), None]  # an empty dictionary is one of nulls
            return [None if code is None else texts[code] for code in replace(self, type=_CODES, dictionary=None).to_pylist()]
        values = self._python_values()
        if self.validity is None:
            return values
        present = _bits(self.validity, self.offset, self.length)
        return [value if there else None for value, there in zip(values, present, strict=True)]

    def _python_values(self) -> list[Any]:
        name = self.type.name
        if self.type.is_string:
            return [text.decode() for text in self._pieces()]
        if self.type.is_binary:
            return self._pieces()
        if name == "bool":
            return _bits(self.values, self.offset, self.length)
        if name == "null":
            return [None] * self.length
        if name == "decimal128":
            return _decimals(self._integers(), self.type.scale or 0)
        raw = self._cast(self.values)[self.offset : self.offset + self.length].tolist()
        to_python = FAMILIES[TRAITS[name].family].to_python
        if to_python is None or self.type.unit == "ns":
            return list(raw)
        zone = None if self.type.tz is None else zone_named(self.type.tz)
        units = UNITS[self.type.unit or "s"]
        return [to_python(count, units, zone) for count in raw]

    def _integers(self) -> list[int]:
        """Return the unscaled integers of a decimal column."""
        data = memoryview(self.values)[self.offset * 16 : (self.offset + self.length) * 16]
        return [int.from_bytes(data[at : at + 16], "little", signed=True) for at in range(0, self.length * 16, 16)]

    def _cast(self, buffer: Buffer) -> memoryview[Any]:
        whole = buffer.nbytes // (self.type.bits // 8) * (self.type.bits // 8)
        return memoryview(buffer)[:whole].cast(self.type.struct_format)  # type: ignore[call-overload, no-any-return]

    def _pieces(self) -> list[bytes]:
        if self.type.name == "string_view":
            return self._viewed()
        if self.offsets is None:
            raise ValueError("a column of strings or bytes has offsets")
        ends = self._cast(self.offsets)[self.offset : self.offset + self.length + 1].tolist()
        if not ends:
            return []
        base = ends[0]
        text = bytes(memoryview(self.values)[base : ends[-1]])
        return [text[begin - base : end - base] for begin, end in pairwise(ends)]

    def _viewed(self) -> list[bytes]:
        views = memoryview(self.values)[self.offset * 16 : (self.offset + self.length) * 16]
        found = []
        for at in range(0, len(views), 16):
            size, _, number, offset = _VIEW.unpack_from(views, at)
            text = views[at + 4 : at + 4 + size] if size <= 12 else memoryview(self.data[number])[offset : offset + size]
            found.append(bytes(text))
        return found

    def compact(self, *, threads: int = 1) -> Column:
        """Return a column of string views without unreferenced buffer contents; any other column unchanged.

        A slice keeps the whole column's memory alive; this releases the rest.
        """
        threads = integer("threads", threads, "an integer from 1 to 1024", 1, 1024)
        if self.type.name != "string_view" or self.device.kind != "cpu":
            return self
        return column_of_texts(_native.string_views(self, threads, MAX_VIEW_BYTES) or (), self)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the column as a NumPy array.

        Without nulls, numbers, timestamps, durations and 64-bit times share the column's memory; dates (``datetime64[D]``),
        32-bit times and bools are copied. NumPy has no time of day, so times become ``timedelta64`` since midnight. With nulls,
        floats have NaN; dates, timestamps, times and durations have NaT; integers and bools become a masked array. Strings (also
        of dictionaries), bytes, decimals and nulls become an object array with None for null.

        NumPy's timestamps have no zone: instants are in UTC. A column on a GPU is copied to the host first.
        """
        from headrace.columns.as_numpy import as_numpy  # NumPy is optional, and slow to import

        return as_numpy(self.to("cpu"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return an array as `to_numpy` does, but with integers and bools that have nulls as objects: a plain array has no mask.

        Raises
        ------
        ValueError
            `dtype` cannot represent null (integers, bool) and the column has nulls; or ``copy=False`` is given and a copy is
            needed.
        """
        from headrace.columns.as_numpy import as_plain_numpy  # NumPy is optional, and slow to import

        return as_plain_numpy(self.to("cpu"), dtype, copy)

    def arrow_description(self, name: str = "") -> tuple[str, str, int, int, list[Buffer | None], Any]:
        """Return the column's description for the C data interface.

        It has the name, Arrow format, null count, offset, buffers (None if absent), and the dictionary (its description and
        length) or None.
        """
        buffers = [self.validity, self.values] if self.offsets is None else [self.validity, self.offsets, self.values]
        if self.type.name == "null":
            buffers = []
        if self.type.name == "string_view":
            sizes = b"".join(buffer.nbytes.to_bytes(8, "little") for buffer in self.data)
            buffers += [*self.data, copy_of(sizes)]
        dictionary = None if self.dictionary is None else (self.dictionary.arrow_description(), self.dictionary.length)
        # Some readers fail on an offset into an empty column.
        return name, self.type.arrow_format, self.null_count, self.offset if self.length else 0, buffers, dictionary

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Export the column by the Arrow C data interface, without a copy. A requested schema is ignored, as the interface
        allows.
        """
        column = self.to("cpu")
        return _native.arrow_column(column.arrow_description(), column.length)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        from headrace.columns.pickling import reduced  # seldom needed

        return reduced(self, protocol)

    def __copy__(self) -> Column:
        return self

    def _repr_html_(self) -> str:
        from headrace.columns.html import column_html  # not needed to read

        return column_html(self)

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self[:5].to_pylist())
        more = ", ..." if self.length > 5 else ""
        return f"Column({self.type}, {self.length:_} rows, {self.null_count:_} null)[{shown}{more}]"


MAX_VIEW_BYTES = 0x7FFFFFFF  # maximum size of one buffer of string views, and so of one text
_VIEW = Struct("<IIII")
_MAX_ROWS = 2**62


def check_column(column: Column) -> None:
    """Raise OptionError unless a column's buffers have the right kinds, and its values lie within them."""
    instance("type", column.type, DataType)
    integer("length", column.length, "a number of rows", 0, _MAX_ROWS)
    integer("null_count", column.null_count, "a number of rows, or -1", -1, _MAX_ROWS)
    integer("offset", column.offset, "a number of rows", 0, _MAX_ROWS)
    instance("data", column.data, tuple, "a tuple of buffers")
    if column.dictionary is not None:
        instance("dictionary", column.dictionary, Column, "a Column or None")
    optional = ("validity", column.validity), ("offsets", column.offsets)
    for name, part in (("values", column.values), *(pair for pair in optional if pair[1] is not None)):
        if not (hasattr(part, "address") and hasattr(part, "nbytes")):
            raise OptionError.wrong(name, "a buffer of this package", part)
    for part in column.data:
        if not (hasattr(part, "address") and hasattr(part, "nbytes")):
            raise OptionError.wrong("data", "buffers of this package", part)
    end = column.offset + column.length
    with_offsets = has_offsets(column.type)
    if with_offsets and column.offsets is None:
        raise OptionError(f"offsets must be given for {column.type}")
    bits = 0 if column.type.name == "null" else column.type.bits
    sized = ("offsets", column.offsets, (end + 1) * bits) if with_offsets else ("values", column.values, end * bits)
    for name, part, needed in (sized, ("validity", column.validity, end)):
        # An empty column may have an empty buffer of offsets.
        if part is not None and column.length and part.nbytes * 8 < needed:
            raise OptionError(f"{name} has {part.nbytes} bytes, and {column.length} rows from offset {column.offset} need more")


_CODES = DataType("int32")


def column_of_texts(parts: tuple[Any, ...], source: Column) -> Column:
    """Return a column of texts that native code has made."""
    type_name, values, validity, offsets, data = parts
    return new_column(
        type=DataType(type_name),
        length=source.length,
        null_count=source.null_count,
        values=values,
        validity=validity,
        offsets=offsets,
        data=data,
    )


def _bits(buffer: Buffer, start: int, count: int) -> list[bool]:
    """Return `count` bits from bit `start` on, least significant first."""
    if count == 0:
        return []
    data = memoryview(buffer)[start // 8 : (start + count + 7) // 8]
    bits = [bool(byte >> i & 1) for byte in data for i in range(8)]
    return bits[start % 8 : start % 8 + count]


def _count_set(buffer: Buffer, start: int, count: int) -> int:
    """Return the number of set bits among `count` bits from bit `start` on."""
    window = int.from_bytes(memoryview(buffer)[start // 8 : (start + count + 7) // 8], "little")
    return (window >> start % 8 & (1 << count) - 1).bit_count()


def _decimals(values: list[int], scale: int) -> list[Any]:
    from decimal import Context, Decimal  # slow to import, and rarely needed

    exact = Context(prec=40)  # more digits than a decimal128 has, so nothing is rounded
    return [Decimal(value).scaleb(-scale, exact) for value in values]


new_column = fast_constructor(Column)  # make a `Column` of valid parts, without checks
