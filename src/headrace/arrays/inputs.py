"""Converts what users pass as arrays: lists, Series, strided and big-endian arrays, bfloat16, and several dimensions.

Arrays that `arrays.take` accepts are returned as they are. Others are copied once, on their own device and by their own library.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.arrays.arrays import TORCH_TYPES, constant_name, needed_numpy
from headrace.core.errors import OptionError, counted, shown

_BFLOAT16 = "bfloat16"
_KINDS = "biufMmUS"
"""NumPy's kinds of items: bools, integers, floats, dates, durations, and texts, which later checks refuse by name."""
_NUMBERS = "biuf"
_BYTES = {"b", "B", "c"}  # formats of buffers of bytes, which are texts rather than numbers


def as_array(value: Any, name: str = "array") -> Any:
    """Return a list, tuple, number, buffer or Series as a NumPy array, and other values as they are.

    Raise OptionError if the value has nulls, or items that are not numbers.

    >>> as_array([3, 1, 2])
    array([3, 1, 2])
    """
    if isinstance(value, (list, tuple, int, float, range)) or (isinstance(value, memoryview) and value.format not in _BYTES):
        return _from_list(value, name)
    root = type(value).__module__.partition(".")[0]
    if root == "array":
        return _from_list(value, name)
    if root in {"pandas", "polars", "pyarrow"} and hasattr(value, "to_numpy"):
        return _from_series(value, root, name)
    if root == "headrace" and hasattr(value, "null_count"):
        return _without_nulls(value, name)
    return value


def _from_list(value: Any, name: str) -> Any:
    np = needed_numpy(f"{name}, a list,")
    try:
        found = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{name}: {error}") from None
    if found.dtype.kind == "O" and isinstance(value, (list, tuple)) and any(item is None for item in value):
        raise nulls_error(name)
    if found.dtype.kind == "O":
        from headrace.arrays.moments import moments_of  # seldom needed

        moments = moments_of(value, name)
        found = found if moments is None else moments
    if found.dtype.kind not in _KINDS:
        raise OptionError(f"{name} has items that are not all numbers of up to 64 bits; convert them first")
    return found


def _from_series(value: Any, root: str, name: str) -> Any:
    """Return the values of a Series of pandas or Polars, or of an array of PyArrow."""
    if hasattr(value, "columns"):
        raise OptionError(f"{name} is a table, a {type(value).__name__}; pass one of its columns")
    if root == "pandas":
        if hasattr(value.dtype, "tz"):  # as Polars and PyArrow do: the instants, without their zone
            return value.to_numpy(dtype=f"M8[{value.dtype.unit}]")
        extension = getattr(value.dtype, "numpy_dtype", None)
        if extension is not None and type(value.dtype).__module__.partition(".")[0] == "pandas":
            if value.hasnans or bool(value.isna().any()):
                raise nulls_error(name)
            return value.to_numpy(dtype=extension)
        return value.to_numpy()
    count = value.null_count() if callable(value.null_count) else value.null_count
    if count:
        raise nulls_error(name)
    return value.to_numpy() if root == "polars" or not hasattr(value, "buffers") else value.to_numpy(zero_copy_only=False)


def _without_nulls(column: Any, name: str) -> Any:
    """Return a column of this package, which is an array by DLPack, after a check that it is one.

    DLPack has neither instants nor durations, and no bools of one bit: those of a column on the host become an array of NumPy.
    """
    is_on_host = column.device.kind == "cpu"
    if column.type.numpy_name is None and not (is_on_host and column.type.name == "bool"):
        raise OptionError(f"{name} is a column of {column.type}; numbers, bools, instants and durations can be taken")
    if column.null_count:
        raise nulls_error(name)
    return column if column.type.is_numeric or not is_on_host else column.to_numpy()


def as_line(value: Any, name: str = "array") -> Any:
    """Return a value as `as_array` does, after a check that it has one dimension.

    Raise OptionError if it has another number of dimensions, or is not an array.
    """
    if library_of(value) == "torch" and hasattr(value, "data_ptr") and value.dim() == 1:
        return value  # the common case on a GPU, without the checks below
    value = as_array(value, name)
    # A method is found at once, whereas PyTorch computes its interface.
    is_array = any(hasattr(value, f"__{protocol}__") for protocol in ("dlpack", "array_interface", "cuda_array_interface"))
    if not is_array or dimensions(value) != 1:
        raise OptionError.wrong(name, "an array of one dimension, a list or a Series", value)
    return value


def nulls_error(name: str) -> OptionError:
    """Return the error for an array with nulls, which only columns may have."""
    return OptionError(f"{name} has nulls; fill them or drop them first")


def plain(value: Any, name: str = "array") -> Any:
    """Return an array of one dimension as one without gaps, aligned, of native byte order and of a type that NumPy has.

    Items of bfloat16 become float32, which has each of their values.

    >>> import numpy as np
    >>> plain(np.arange(6, dtype=">i4")[::-2])
    array([5, 3, 1], dtype=int32)
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray:
        if value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative:
            return _without_bfloat16(value)
        return _without_bfloat16(numpy.require(value, value.dtype.newbyteorder("="), ("C_CONTIGUOUS", "ALIGNED")))
    if library_of(value) == "torch":
        if constant_name(value.dtype).endswith(_BFLOAT16):
            value = value.float()
        return value if constant_name(value.layout) != "torch.strided" else value.contiguous()
    value = as_array(value, name)
    library = library_of(value)
    if library == "cupy":
        return value if value.flags.c_contiguous else sys.modules["cupy"].ascontiguousarray(value)
    if library == "numpy" and type(value) is sys.modules["numpy"].ndarray:
        return plain(value, name)
    return value


def _without_bfloat16(value: Any) -> Any:
    """Return an array of NumPy, whose bfloat16 is a type of the package ml_dtypes, with items of float32 instead."""
    return value.astype("f4") if value.dtype.kind == "V" and value.dtype.name == _BFLOAT16 else value


def library_of(value: Any) -> str:
    """Return the name of the library that a value is of."""
    return type(value).__module__.partition(".")[0]


def type_of(value: Any) -> str:
    """Return the name of an array's item type, such as ``"int64"`` or ``"bfloat16"``; empty if it has none."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        typestr = getattr(value, "typestr", "")
        return {held: name for name, held in TORCH_TYPES.items()}.get(typestr, typestr)
    return str(dtype).removeprefix("torch.") if library_of(value) == "torch" else str(getattr(dtype, "name", dtype))


def named_type(dtype: Any, name: str = "dtype") -> str:
    """Return the name of a type in any spelling: of Python, NumPy, PyTorch, PyArrow, Polars, or a string.

    Raise OptionError if the type is not a number or bool of up to 64 bits.

    >>> import numpy as np
    >>> [named_type(each) for each in ("int64", "i8", np.int32, float, np.dtype(">f4"))]
    ['int64', 'int64', 'int32', 'float64', 'float32']
    """
    found = _spelled(dtype)
    if found is None:
        raise OptionError.wrong(name, "a type of numbers such as 'int64' or numpy.float32", dtype)
    return found


_ARROW_NAMES = {"double": "float64", "float": "float64", "halffloat": "float16", "int": "int64", "boolean": "bool"}


def _spelled(dtype: Any) -> str | None:
    if isinstance(dtype, (list, tuple, dict, set)):
        return None
    text = "float32" if type(dtype).__module__ == "pyarrow.lib" and str(dtype) == "float" else str(dtype)
    if isinstance(dtype, type) and dtype.__module__ == "builtins":
        text = dtype.__name__
    text = text.rpartition(".")[2].lower()
    text = _ARROW_NAMES.get(text, text)
    if text in TORCH_TYPES or text == _BFLOAT16:
        return text
    numpy = sys.modules.get("numpy")
    if numpy is None or dtype is None or isinstance(dtype, numpy.generic):
        return None
    if isinstance(dtype, str) and (dtype == "a" or not dtype.isprintable()):  # NumPy's deprecated bytes; numbers of its types
        return None
    try:
        found = str(numpy.dtype(dtype).name)
    except (TypeError, ValueError, SyntaxError):  # NumPy parses texts with commas as Python
        return None
    return found if found in TORCH_TYPES else None


def converted(value: Any, dtype: str, name: str = "array") -> Any:
    """Return an array with items of a type, by its own library.

    Raise OptionError if the items are not numbers, or the array is of a library that converts no items.
    """
    if type_of(value) == dtype:
        return value
    library = library_of(value)
    if library == "torch":
        return value.to(getattr(sys.modules["torch"], dtype))
    if library not in {"numpy", "cupy"} and hasattr(value, "__array_interface__"):
        value, library = needed_numpy(f"{name}, of which a copy is converted,").asarray(value), "numpy"
    has_items = library in {"numpy", "cupy"} and hasattr(value, "astype")
    if has_items and (value.dtype.kind in _NUMBERS or type_of(value) == _BFLOAT16):
        return value.astype(dtype)
    raise OptionError(f"{name} has items of type {type_of(value)}; convert them to {dtype} first")


def dimensions(value: Any) -> int:
    """Return the number of dimensions of an array; 1 for arrays without that attribute."""
    found = getattr(value, "ndim", None)
    return found if isinstance(found, int) else 1


def checked_axis(axis: Any, count: int, name: str = "array") -> int:
    """Return an axis counted from the first dimension. Raise OptionError if the array has no such axis."""
    if count == 0:
        raise OptionError(f"{name} must have one dimension or more, not 0")
    if not isinstance(axis, int) or isinstance(axis, bool) or not -count <= axis < count:
        shape = counted(count, "dimension")
        raise OptionError(f"axis must be an integer from {-count} to {count - 1}, as {name} has {shape}, not {shown(axis)}")
    return axis % count


def is_only_axis(axis: Any) -> bool:
    """Return whether an axis is the one that arrays of one dimension have."""
    return axis is None or (type(axis) is int and -1 <= axis <= 0)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of an array along an axis, as the rows of a matrix."""

    rows: Any  # Matrix without gaps, of NumPy, or on a GPU of CuPy or PyTorch. Items of bfloat16 are float32 here.
    axis: int  # the axis, counted from the first dimension
    source: Any  # the array

    def each(self, call: Callable[[Any], Any]) -> Any:
        """Return a matrix of the results of `call` for each row. The results are arrays of one length."""
        library = sys.modules[library_of(self.rows)]
        if len(self.rows):
            results = [call(row) for row in self.rows]
        else:
            placed_at = {"device": self.rows.device} if library_of(self.rows) == "torch" else {}
            results = [call(library.zeros(self.rows.shape[-1], dtype=self.rows.dtype, **placed_at))]
        if library_of(results[0]) == "headrace":
            raise OptionError("arrays of several dimensions are processed where they lie; pass one of CuPy or PyTorch for a GPU")
        return library.stack(results)[: len(self.rows)]

    def gathered(self, indices: Any) -> Any:
        """Return the items of each row at the indices in the same row of a matrix."""
        if library_of(self.rows) == "torch":
            return self.rows.gather(1, indices)
        return sys.modules[library_of(self.rows)].take_along_axis(self.rows, indices, 1)

    def restored(self, rows: Any, *, keeps_type: bool = True) -> Any:
        """Return a matrix of results in the shape, library and, if `keeps_type`, in the bfloat16 of the array."""
        library = library_of(self.source)
        if library == "torch" and library_of(rows) == "numpy":
            rows = sys.modules["torch"].from_numpy(rows)
        if keeps_type and type_of(self.source) == _BFLOAT16:
            rows = rows.bfloat16() if library == "torch" else rows.astype(self.source.dtype)
        shape = list(self.source.shape)
        del shape[self.axis]
        return axis_mover(rows)(rows.reshape(*shape, rows.shape[-1]), -1, self.axis)


def array_and_lines(value: Any, axis: int | None, name: str = "array") -> tuple[Any, Lines | None]:
    """Return an array and its lines; None instead of these if it is one line of items of a type that NumPy has.

    Raise OptionError if the array has no such axis, or is of a library whose arrays have one dimension.

    `value`: an array, a list or a Series.
    `axis`: the axis. None for all items, in the order of C.

    >>> import numpy as np
    >>> array_and_lines(np.array([[1, 2], [3, 4]]), 0)[1].rows.tolist()
    [[1, 3], [2, 4]]
    """
    value = flattened(value, name) if axis is None else as_array(value, name)
    count = dimensions(value)
    axis = 0 if axis is None else axis
    axis = checked_axis(axis, count, name) if count else 0
    is_bfloat16 = type_of(value) == _BFLOAT16
    if count == 1 and not is_bfloat16:
        return value, None
    if library_of(value) not in {"numpy", "cupy", "torch"} or count == 0:
        raise OptionError(f"{name} must have one dimension or more, of NumPy, CuPy or PyTorch, not {count}")
    lines = axis_mover(value)(value, axis, -1)
    rows = plain(lines.reshape(math.prod(lines.shape[:-1]), lines.shape[-1]), name)
    if library_of(rows) == "torch" and rows.device.type == "cpu":
        rows = rows.numpy()
    return value, Lines(rows, axis, value)


def flattened(value: Any, name: str = "array") -> Any:
    """Return all items of an array of any shape as one of one dimension, in the order of C."""
    value = as_array(value, name)
    if dimensions(value) == 1:
        return value
    if not hasattr(value, "reshape"):
        raise OptionError.wrong(name, "an array, a list or a Series", value)
    return value.reshape(-1)


def axis_mover(value: Any) -> Callable[..., Any]:
    """Return the function of an array's library that moves an axis."""
    library = sys.modules[library_of(value)]
    found: Callable[..., Any] = library.movedim if library_of(value) == "torch" else library.moveaxis
    return found


def wider_type(first: Any, second: Any) -> str | None:
    """Return the type that NumPy converts two arrays to before it compares them; None if they have one type, or no known one.

    >>> import numpy as np
    >>> wider_type(np.zeros(1, np.int32), np.zeros(1, np.float32))
    'float64'
    """
    names = type_of(first), type_of(second)
    if names[0] == names[1]:
        return None if names[0] != _BFLOAT16 else "float32"
    if not all(name in TORCH_TYPES or name == _BFLOAT16 for name in names):
        return None
    np = needed_numpy("arrays of several types")
    return str(np.result_type(*("float32" if name == _BFLOAT16 else name for name in names)).name)
