"""Defines the methods of Rabin and Karp by name, and chooses their fingerprint (Ashkiani 2017, chapter 2).

The character code comes from the pattern and a sample of the text. Positions do not depend on it, because each window with the
pattern's fingerprint is compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace import _native
from headrace.core.errors import OptionError
from headrace.core.layouts.layout import layout
from headrace.query.find.pattern.pattern import Pattern

SAMPLE_BYTES = 4096
_BITS_32, _BITS_64, _MODULO, _MATRIX, HYBRID = range(5)  # forms of a fingerprint, in the order of `FingerprintForm`
MATRIX = _MATRIX
MAX_HYBRID = 1024  # maximum length of a pattern whose prefixes fit a block's shared memory (windows.cuh)


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the form of its fingerprint, the bits of one (0 if any length fits), and its place of work."""

    form: int  # form of the fingerprint
    word_bits: int = 0  # bits that the codes of the window must fit; 0 for no limit
    is_two_stage: bool = False  # True if a short window is searched for, and the rest is only verified
    is_serial: bool = False  # True if one thread of the CPU searches


METHODS: Mapping[str, Method] = {
    "srk": Method(_MODULO, is_serial=True),
    "crk": Method(_MATRIX),
    "drk": Method(_MODULO),
    "drk-wom-32": Method(_BITS_32, 32),
    "drk-wom-64": Method(_BITS_64, 64),
    "hrk": Method(HYBRID),
    "drk-2s": Method(_BITS_64, is_two_stage=True),
}  # methods by the names that `find` takes
NAMES = (*METHODS, "rabin-karp")  # all names; the last one chooses a method by the pattern and the text


@dataclass(frozen=True, slots=True)
class MethodPlan:
    """A method for one pattern and one text; `fields` are those of ``Fingerprint``."""

    method: Method
    fields: bytes
    width: int

    @classmethod
    def of(cls, name: str, pattern: Pattern, sample: bytes) -> MethodPlan:
        """Return the plan of a method.

        Raise OptionError if the pattern is too long for the method, or ignores case.

        `name`: one of `NAMES`.
        """
        if pattern.ignore_case:
            raise OptionError(f"method {name!r} respects case; leave out ignore_case or method")
        dtype, length = layout("Fingerprint").dtype, len(pattern)
        code: Any = _mutable(_native.character_code(pattern.native, sample), dtype)
        bits = int(code["bits"][0])
        chosen = METHODS[_chosen(bits * length) if name == NAMES[-1] else name]
        limit = chosen.word_bits // bits if chosen.word_bits else MAX_HYBRID if chosen.form == HYBRID else length
        if length > limit:
            raise OptionError(f"method {name!r} is for patterns of up to {limit} bytes in this text, not {length}")
        width = min(length, 16 if bits <= 4 else 8) if chosen.is_two_stage else length
        code["width"] = width
        code["offset"] = pattern.native.varied_window(width, 0, width) if chosen.is_two_stage else 0
        return cls(chosen, _native.fingerprint(pattern.native, chosen.form, code.tobytes()), width)

    def check_device(self) -> None:
        """Check that the method runs on a GPU. Raise OptionError if it runs on the CPU only."""
        if self.method.is_serial:
            raise OptionError("method 'srk' runs on one thread of the CPU; for a text on a GPU, pass 'drk'")


def _chosen(bits: int) -> str:
    """Return the fastest method for a pattern whose codes have `bits` bits in total (section 2.8)."""
    return "drk-wom-32" if bits <= 32 else "drk-wom-64" if bits <= 64 else "drk-2s"


def _mutable(fields: bytes, dtype: Any) -> Any:
    import numpy as np  # a text is an array of NumPy, or of a library that needs it

    return np.frombuffer(fields, dtype).copy()
