"""What keys are in the sources: the kernels' types by NumPy's."""

from __future__ import annotations

from typing import Any

from headrace.arrange.bucket.buckets import KEYS
from headrace.arrays.arrays import needed_numpy
from headrace.core.errors import OptionError

WIDE = "|V16"
"""Keys of 16 bytes, as NumPy writes their type; those of other widths become such where they are looked at."""
_WIDEST = 16


def key_type(typestr: str) -> str:
    """The name of keys' type in the sources.

    Raises
    ------
    OptionError
        There are no such keys.
    """
    if typestr[1] == "V":
        width = int(typestr[2:])
        if width > _WIDEST:
            raise OptionError(f"keys have {width} bytes; {_WIDEST} is the most")
        return f"u{8 * width}" if width in {1, 2, 4, 8} else "Wide"
    if typestr not in KEYS:
        raise OptionError(
            f"keys are of type {typestr!r}; taken are whole numbers of 1 to 8 bytes, floats, and items of up to 16 bytes"
        )
    return KEYS[typestr]


def key_dtype(typestr: str) -> Any:
    """The type that keys are looked at as: of items of 1, 2, 4 and 8 bytes unsigned numbers."""
    np = needed_numpy("multisplit()")
    word = key_type(typestr)
    return np.dtype(f"u{int(word[1:]) // 8}") if typestr[1] == "V" and word != "Wide" else np.dtype(typestr)


def word_of(key: str) -> str:
    """The word of the same width: what kernels know of keys whose bits or expressions they look at."""
    return {"float": "u32", "double": "u64"}.get(key, key)
