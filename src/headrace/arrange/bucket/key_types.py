"""Maps NumPy types of keys to the types that the kernels name."""

from __future__ import annotations

from typing import Any

from headrace.arrange.bucket.buckets import KEYS
from headrace.arrays.arrays import integers_of_times, needed_numpy
from headrace.core.errors import OptionError

WIDE = "|V16"  # NumPy type of keys of 16 bytes. Keys of widths without kernels are padded to this type.
_WIDEST = 16


def key_type(typestr: str) -> str:
    """Return the name of the keys' type in the kernels. Raise OptionError if keys of this type are not supported."""
    if typestr[1] == "V":
        width = int(typestr[2:])
        if width > _WIDEST:
            raise OptionError(f"keys have {width} bytes; the maximum is {_WIDEST}")
        return f"u{8 * width}" if width in {1, 2, 4, 8} else "WideKey"
    if typestr not in KEYS:
        raise OptionError(
            f"keys are of type {typestr!r}; supported are integers of 1 to 8 bytes, floats, and items of up to 16 bytes"
            f"{integers_of_times(typestr)}"
        )
    return KEYS[typestr]


def key_dtype(typestr: str) -> Any:
    """Return the NumPy type that keys are read as: items of 1, 2, 4 and 8 bytes are unsigned integers."""
    np = needed_numpy("multisplit()")
    word = key_type(typestr)
    return np.dtype(f"u{int(word[1:]) // 8}") if typestr[1] == "V" and word != "WideKey" else np.dtype(typestr)


def word_of(key: str) -> str:
    """Return the unsigned type of the same width, for kernels that read only the bits of a key."""
    return {"float": "u32", "double": "u64"}.get(key, key)
