"""Reads the layouts of C++ structs that native code has registered (layout.hpp).

Each struct is declared once, in C++: NumPy dtypes, packers and sizes in kernel signatures all come from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from struct import Struct
from typing import TYPE_CHECKING, Any

from headrace import _native

if TYPE_CHECKING:
    import numpy as np

_CODES = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "f4": "f", "f8": "d", "?": "?"}
"""Formats of NumPy as `struct` writes them."""


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a struct."""

    name: str  # name in C++
    format: str | StructLayout
    """NumPy's format, such as ``"u4"``, or the layout of a nested struct. Pointers and addresses are ``"u8"``."""
    shape: tuple[int, ...]  # lengths of an array; empty for a single value
    offset: int  # in bytes from the begin of the struct

    @property
    def nbytes(self) -> int:
        """Bytes of the member."""
        size = self.format.size if isinstance(self.format, StructLayout) else 1 if self.format == "?" else int(self.format[1:])
        return size * math.prod(self.shape)

    @property
    def code(self) -> str:
        """Format for `struct`; nested structs and arrays of them are bytes."""
        if isinstance(self.format, StructLayout):
            return f"{self.nbytes}s"
        return f"{math.prod(self.shape) if self.shape else ''}{_CODES[self.format]}"


@dataclass(frozen=True)
class StructLayout:
    """Fields and size of a C++ struct.

    >>> task = layout("RowTask")
    >>> task.argument, task.fields[0].name
    ('80s', 'size')
    """

    name: str
    size: int
    fields: tuple[Field, ...]

    @property
    def argument(self) -> str:
        """The struct in a kernel's signature (headrace.gpu.kernels.launcher.Entry): its size, as bytes by value."""
        return f"{self.size}s"

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype with the same names, offsets and size; nested structs are nested dtypes."""
        import numpy as np

        formats = [field.format.dtype if isinstance(field.format, StructLayout) else field.format for field in self.fields]
        shaped = [(format_, field.shape) if field.shape else format_ for format_, field in zip(formats, self.fields, strict=True)]
        names, offsets = [field.name for field in self.fields], [field.offset for field in self.fields]
        return np.dtype({"names": names, "formats": shaped, "offsets": offsets, "itemsize": self.size})

    def offset(self, name: str) -> int:
        """Return the offset of a field in bytes."""
        return self._field(name).offset

    def length(self, name: str) -> int:
        """Return the number of elements of an array."""
        return self._field(name).shape[0]

    def packer(self, first: str | None = None, last: str | None = None) -> Struct:
        """Return a `struct.Struct` of the fields from `first` to `last`, padding included; of all fields without them."""
        names = [field.name for field in self.fields]
        begin = 0 if first is None else names.index(first)
        end = len(names) if last is None else names.index(last) + 1
        at, codes = self.fields[begin].offset, []
        for field in self.fields[begin:end]:
            codes.append("x" * (field.offset - at) + field.code)
            at = field.offset + field.nbytes
        padding = self.size - at if end == len(names) else 0
        return Struct("=" + "".join(codes) + "x" * padding)

    def _field(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)


def layout(name: str) -> StructLayout:
    """Return the layout of a registered struct. Raise KeyError if no struct of this name is registered."""
    return _layout_of(name, *_native.layout(name))


def _layout_of(name: str, size: int, fields: Iterable[Sequence[Any]]) -> StructLayout:
    result = [
        Field(field, format_ if inner is None else _layout_of(field, *inner), tuple(shape), offset)
        for field, format_, shape, offset, inner in fields
    ]
    return StructLayout(name, size, tuple(result))
