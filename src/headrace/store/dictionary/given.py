"""Takes arrays of NumPy, lists and Series as columns."""

from __future__ import annotations

from typing import Any

from headrace.columns.column import Column
from headrace.columns.types import DataType, parse_type
from headrace.core.buffer import copy_of
from headrace.core.errors import OptionError
from headrace.export.arrow.from_arrow import column_from_arrow, column_from_values
from headrace.store.dictionary import validity

_NUMBERS = frozenset(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)) | {"float32", "float64"}
_UNITS = ("s", "ms", "us", "ns")
_EXPECTED = "a column, an array, a list or a Series"


def column_given(given: Any, name: str) -> Column:
    """Return an array of NumPy, a list, a Series, or an array of PyArrow as a column. Messages name it `name`.

    Arrays of integers, floats, bools, dates and times need no other package; all others are converted by PyArrow.

    Raise OptionError if it is none of these, has several dimensions, or values that no type of columns has. Raise
    MissingDependencyError if PyArrow is needed and not installed.
    """
    if type(given).__module__ == "numpy" and hasattr(given, "dtype"):
        if given.ndim != 1:
            raise OptionError.wrong(name, f"{_EXPECTED} of one dimension", given)
        return _of_array(given, name)
    if isinstance(given, list | tuple | range):
        return column_from_values(given, name, _EXPECTED)
    return column_from_arrow(given, name, _EXPECTED)


def _of_array(given: Any, name: str) -> Column:
    import numpy as np

    kind, type_name = given.dtype.kind, given.dtype.name
    if type_name in _NUMBERS:
        return _of_items(DataType(type_name), given.astype(given.dtype.newbyteorder("=")))
    if kind == "b":
        return Column(DataType("bool"), len(given), 0, copy_of(np.packbits(given, bitorder="little")))
    if kind in "Mm":
        return _of_times(given, name)
    if kind in "UO":
        return column_from_values(given.tolist(), name, _EXPECTED)
    raise OptionError(f"{name} is an array of {given.dtype}; convert it to integers, floats, bools, times or texts")


def _of_times(given: Any, name: str) -> Column:
    """Return instants and durations; NaT is null, and days are dates."""
    import numpy as np

    is_instant, (unit, step) = given.dtype.kind == "M", np.datetime_data(given.dtype)
    if step != 1 or unit not in (*_UNITS, "D") or (unit == "D" and not is_instant):
        raise OptionError(f"{name} is an array of {given.dtype}; convert it to days, s, ms, us or ns")
    bits, nulls = validity.of_flags(~np.isnat(given))
    items = given.astype(given.dtype.newbyteorder("=")).view(np.int64)
    if unit != "D":
        return _of_items(parse_type(f"{'timestamp' if is_instant else 'duration'}[{unit}]"), items, nulls, bits)
    days = np.where(np.isnat(given), 0, items)
    if (days != days.astype(np.int32)).any():
        raise OptionError(f"{name} has days that date32 does not have")
    return _of_items(DataType("date32"), days.astype(np.int32), nulls, bits)


def _of_items(type_: DataType, items: Any, nulls: int = 0, bits: Any = None) -> Column:
    import numpy as np

    return Column(type_, len(items), nulls, copy_of(np.ascontiguousarray(items).view(np.uint8)), bits)
