"""Packs the structs of bucket rules (rules.hpp), by rule and type of the keys."""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import Any

from headrace.core.layouts.layout import layout


@cache
def rule_layout(rule: str, dtype: Any) -> Struct:
    """Return the packer of a rule for keys of a NumPy type. Voids are keys of 16 bytes; integers below 64 bits share a layout.

    >>> import numpy as np
    >>> rule_layout("Even", np.dtype("i2")).format
    '=QII'
    """
    word = {"V": "WideKey", "f": f"f{8 * dtype.itemsize}"}.get(dtype.kind, "u64" if dtype.itemsize == 8 else "u32")
    return layout(f"{rule}<{word}>").packer()
