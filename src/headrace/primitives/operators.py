"""What scans and reductions join items with, by name; core/operators.hpp has their rules."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.arrays.arrays import Array
from headrace.core.errors import OptionError
from headrace.core.options import choice

OPERATORS = {"sum": "Sum", "min": "Min", "max": "Max"}
"""Name in a call to name in the sources."""

_ITEMS = {"<u4": "u32", "<i4": "i32", "<u8": "u64", "<i8": "i64", "<f4": "float", "<f8": "double"}
_UNSIGNED = {"i32": "u32", "i64": "u64"}
_WIDENED = {"<u4": ("u32", "<u8"), "<i4": ("i32", "<i8")}


@dataclass(frozen=True, slots=True)
class Joining:
    """An operator for items of one type, as the sources name both.

    Parameters
    ----------
    join
        Such as ``"Sum"``.
    item
        Such as ``"u32"``.
    """

    join: str
    item: str

    @classmethod
    def of(cls, operator: str, items: Array) -> Joining:
        """The operator of a call.

        Raises
        ------
        OptionError
            Nothing is called that, or it does not join such items.

        Examples
        --------
        >>> import numpy as np
        >>> from headrace.arrays.arrays import take
        >>> Joining.of("sum", take(np.zeros(3, np.int32)))
        Joining(join='Sum', item='u32')
        """
        operator = choice("operator", operator, OPERATORS)
        if items.typestr not in _ITEMS:
            raise OptionError(f"items are of type {items.typestr!r}; taken are integers and floats of 4 and 8 bytes")
        item = _ITEMS[items.typestr]
        if operator == "sum":
            item = _UNSIGNED.get(item, item)
        return cls(OPERATORS[operator], item)

    @classmethod
    def widened(cls, operator: str, items: Array) -> tuple[str, str] | None:
        """Of a sum of 32-bit integers, which has 64 bits: the items as the sources name them, and the type of the sum."""
        return _WIDENED.get(items.typestr) if operator == "sum" else None

    @property
    def is_float_sum(self) -> bool:
        """Whether the answer depends on how items are grouped."""
        return self.join == "Sum" and self.item in {"float", "double"}
