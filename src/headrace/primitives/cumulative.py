"""Running sums under the names and with the defaults of NumPy."""

from __future__ import annotations

from typing import Any

from headrace.arrays.inputs import array_and_lines, as_array, dimensions, type_of
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.core.options import flag
from headrace.primitives.conformed import conformed
from headrace.primitives.scan import scan_line

_WIDE = {"int32": "int64", "uint32": "uint64"}


def cumulative_sum(
    x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False, context: Context | None = None
) -> Any:
    """Return the sums of all items up to each item, as NumPy's and the Array API standard's `cumulative_sum`.

    Parameters
    ----------
    x
        As the items of `headrace.scan`, which defines the order in which floats are added.
    axis
        Axis to add along; needed if there are several.
    dtype
        Type of the sums in any spelling. None for that of floats, and for one of 64 bits for integers and bools.
    include_initial
        Whether the sums begin with a 0, so that there is one more along the axis.
    context
        As in `headrace.scan`.

    Returns
    -------
    array
        Sums, of the library of `x`. They do not depend on the device or the number of threads.

    Raises
    ------
    OptionError
        `x` has another type, or several dimensions and no `axis` is given.
    MemoryLimitError
        The result exceeds the context's limit.

    Examples
    --------
    >>> cumulative_sum([3, 1, 4], include_initial=True)
    array([0, 3, 4, 8])
    """
    x = as_array(x, "x")
    if axis is None and dimensions(x) != 1:
        raise OptionError(f"x has {dimensions(x)} dimensions; pass axis=, or use cumsum, which takes all items as one dimension")
    return _sums(x, axis, dtype, flag("include_initial", include_initial), context)


def cumsum(x: Any, axis: int | None = None, dtype: Any = None, *, context: Context | None = None) -> Any:
    """Return the sums of all items up to each item, as NumPy's `cumsum`: an alias of `cumulative_sum`.

    Parameters
    ----------
    x, dtype, context
        As in `cumulative_sum`.
    axis
        Axis to add along; None adds all items as one dimension.

    Returns
    -------
    array
        As of `cumulative_sum`.

    Raises
    ------
    OptionError
        `x` has another type.
    MemoryLimitError
        The result exceeds the context's limit.

    Examples
    --------
    >>> cumsum([[1, 2], [3, 4]])
    array([ 1,  3,  6, 10])
    """
    return _sums(as_array(x, "x"), axis, dtype, False, context)


def _sums(x: Any, axis: int | None, dtype: Any, has_initial: bool, context: Context | None) -> Any:
    source = conformed(x, "sum", _WIDE.get(type_of(x)) if dtype is None else dtype, "x")
    value, lines = array_and_lines(source.value, axis, "x")

    def sums(line: Any) -> Any:
        return scan_line(line, "sum", has_initial=has_initial, context=context, name="x")

    return source.restored(sums(value) if lines is None else lines.restored(lines.each(sums)))
