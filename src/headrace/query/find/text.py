"""Takes the texts that are searched."""

from __future__ import annotations

import sys
from typing import Any

from headrace import _native
from headrace.arrays.arrays import CPU, Array, fast_array, needed_numpy, take
from headrace.arrays.inputs import as_array
from headrace.arrays.placement import placed
from headrace.columns.column import Column
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError

_KINDS_OF_TEXT = {"O", "S", "T", "U", "string", "large_string", "string_view", "binary", "large_binary", "dictionary"}
"""NumPy's kinds of arrays of texts, and types of columns of texts."""


def text_of(text: Any, context: Context, budget: Budget) -> Array:
    """Return the description of a text, on the device where it is searched. It is copied only to a GPU that the context names.

    Raise OptionError if the text is a str, or no contiguous bytes of one dimension. Raise MemoryLimitError if the copy does
    not fit the budget.
    """
    if isinstance(text, str):
        raise OptionError("text must be bytes, not a text or a path; pass text.encode(), or an mmap of the file")
    wanted, view = context.device, _view_of(text)
    if view is not None and wanted.kind == "cpu":
        return fast_array(_native.address_of_view(view), view.nbytes, "|u1", CPU, "other", None, not view.readonly, view)
    source = take(_numbers(text) if view is None else _array_of(view), "text")
    if source.typestr != "|u1":
        raise OptionError(f"text has items of type {source.typestr!r}; pass bytes or an array of uint8, such as text.view('u1')")
    return source if wanted.kind == "cpu" or source.device == wanted else placed(source.owner, "text", context, budget)


def _view_of(text: Any) -> memoryview | None:
    """Return the bytes of a bytes-like object; None for arrays of NumPy and other objects."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(text, numpy.ndarray):
        return None
    try:
        view = memoryview(text)
    except (TypeError, BufferError, ValueError):
        return None
    if not view.contiguous or view.ndim != 1:
        raise OptionError("text must be contiguous bytes of one dimension; pass bytes(text)")
    return view


def _array_of(view: memoryview) -> Any:
    np = needed_numpy("find()")
    return np.frombuffer(view, np.uint8) if view.nbytes else np.empty(0, np.uint8)


def _numbers(text: Any) -> Any:
    """Return a column or Series of numbers as an array; columns of texts are searched by other functions."""
    is_column = isinstance(text, Column)
    if is_column or type(text).__module__.partition(".")[0] in {"pandas", "polars", "pyarrow"}:
        kind = text.type.name if is_column else getattr(getattr(text := as_array(text, "text"), "dtype", None), "kind", "")
        if kind in _KINDS_OF_TEXT:
            first = next((item for item in text.flat if item is not None), "") if kind == "O" else ""
            if not isinstance(first, (str, bytes)):
                raise OptionError(f"text has items of type {type(first).__name__}; pass bytes or an array of uint8")
            raise OptionError("text is a column of texts, which find_in_column() searches row by row; pass the bytes of one text")
    return text
