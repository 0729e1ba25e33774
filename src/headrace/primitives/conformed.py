"""Converts arrays to types that scans and reductions combine, and results back."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from headrace.arrays.inputs import as_array, converted, named_type, type_of
from headrace.core.options import choice
from headrace.primitives.operators import OPERATORS

_WIDE = {"bool": "int64", "int8": "int64", "int16": "int64", "uint8": "uint64", "uint16": "uint64"}
"""Types of sums of short integers."""
_WORDS = {"bool": "uint32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}
"""Types that short integers are compared as."""
_HALVES = ("float16", "bfloat16")
_TAKEN = "iIlLqQfd"  # NumPy's letters of types that are combined as they are


@dataclass(frozen=True, slots=True)
class Conformed:
    """An array of a type that is combined, and the type of the result; None for the type that it has."""

    value: Any
    result_type: str | None = None

    def restored(self, result: Any) -> Any:
        """Return a result in the wanted type."""
        if self.result_type is None:
            return result
        if self.result_type == "bfloat16" and type(result).__module__.partition(".")[0] == "numpy":
            return result.astype(self.value.dtype.type if type_of(self.value) == "bfloat16" else "bfloat16")
        return converted(result, self.result_type)


def conformed(value: Any, operator: str, dtype: Any, name: str = "items") -> Conformed:
    """Return items in a type that is combined.

    Raise OptionError if `operator` is not the name of an operator.

    `value`: the array, a list or a Series.
    `operator`: name of the operator: sums of short integers are wide, and their minima have the type of the items.
    `dtype`: type that the caller wants, in any spelling; None for a choice by the items.

    >>> import numpy as np
    >>> conformed(np.array([True, False]), "sum", None).value.dtype
    dtype('int64')
    """
    numpy = sys.modules.get("numpy")
    if dtype is None and numpy is not None and type(value) is numpy.ndarray and value.dtype.char in _TAKEN:
        return Conformed(value)
    value = as_array(value, name)
    given = type_of(value)
    wanted = given if dtype is None else named_type(dtype)
    if wanted in _HALVES:
        return Conformed(converted(value, "float32", name), wanted)
    if wanted in _WORDS:
        is_sum = choice("operator", operator, OPERATORS) == "sum"
        if is_sum and dtype is None:
            return Conformed(converted(value, _WIDE[wanted], name))
        return Conformed(converted(value, _WIDE[wanted] if is_sum else _WORDS[wanted], name), wanted)
    return Conformed(value if dtype is None else converted(value, wanted, name))
