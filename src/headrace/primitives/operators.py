"""Names the operators that scans and reductions combine items with; core/operators.hpp defines them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.arrays.arrays import Array, integers_of_times
from headrace.core.errors import OptionError
from headrace.core.options import choice

OPERATORS = {"sum": "Sum", "min": "Min", "max": "Max"}  # names in the kernels, by the names in a call

_ITEMS = {"<u4": "u32", "<i4": "i32", "<u8": "u64", "<i8": "i64", "<f4": "float", "<f8": "double"}
_UNSIGNED = {"i32": "u32", "i64": "u64"}
_WIDENED = {"<u4": ("u32", "<u8"), "<i4": ("i32", "<i8")}


@dataclass(frozen=True, slots=True)
class Joining:
    """Operator for items of one type, as the kernels name both."""

    join: str  # operator, such as ``"Sum"``
    item: str  # type of the items, such as ``"u32"``

    @classmethod
    def of(cls, operator: str, items: Array) -> Joining:
        """Return the operator of a call.

        Raise OptionError if the operator has no such name, or does not combine such items.

        >>> import numpy as np
        >>> from headrace.arrays.arrays import take
        >>> Joining.of("sum", take(np.zeros(3, np.int32)))
        Joining(join='Sum', item='u32')
        """
        return cls._of(choice("operator", operator, OPERATORS), items.typestr)

    @classmethod
    @lru_cache(64)
    def _of(cls, operator: str, typestr: str) -> Joining:
        if typestr not in _ITEMS:
            how = integers_of_times(typestr)
            raise OptionError(f"items are of type {typestr!r}; supported are integers and floats of 4 and 8 bytes{how}")
        item = _ITEMS[typestr]
        if operator == "sum":
            item = _UNSIGNED.get(item, item)
        return cls(OPERATORS[operator], item)

    @classmethod
    def widened(cls, operator: str, items: Array) -> tuple[str, str] | None:
        """Return item type and result type of a sum of 32-bit integers, whose result has 64 bits; None for other operators."""
        return _WIDENED.get(items.typestr) if operator == "sum" else None

    @property
    def is_float_sum(self) -> bool:
        """True if the result depends on the grouping of the items."""
        return self.join == "Sum" and self.item in {"float", "double"}
