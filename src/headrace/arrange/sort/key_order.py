"""Describes the order of keys by the four words from which CPU and GPU make codes (sort_key.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from headrace.arrays.arrays import width_of
from headrace.core.errors import OptionError
from headrace.core.layouts.layout import layout

KINDS = {"b": "unsigned", "u": "unsigned", "i": "signed", "f": "float", "M": "time", "m": "time"}
"""Kinds of keys by NumPy's letter of a type."""
_WIDTHS = {8, 16, 32, 64}
_MANTISSA = {16: 10, 32: 23, 64: 52}


@dataclass(frozen=True, slots=True)
class KeyOrder:
    """The order of keys.

    >>> order = KeyOrder("float", 32)
    >>> hex(order.code(0xFF800000)), hex(order.code(0x7F800000)), hex(order.code(0x7FC00000))  # -inf, inf, NaN
    ('0x0', '0xff000001', '0xff400001')
    >>> hex(order.key(0xFF000001))
    '0x7f800000'
    """

    kind: str  # `"unsigned"`, `"signed"`, `"float"`, or `"time"`: NumPy's instants and durations, whose lowest value is NaT
    bits: int  # bits of a key: 8, 16, 32 or 64
    descending: bool = False  # True if the largest key comes first
    total_order: bool = False
    """True if floats come in IEEE's totalOrder (-NaN, -inf, .. -0, 0, .. inf, NaN; descending the other way round), and NaT
    before all times. Otherwise NaN and NaT are last in either direction, and -0 equals 0.
    """

    @classmethod
    @lru_cache(256)
    def of(cls, typestr: str, *, descending: bool = False, total_order: bool = False) -> KeyOrder:
        """Return the order of keys of a NumPy type.

        Raise OptionError if the type cannot be sorted.

        >>> KeyOrder.of("<i4", descending=True)
        KeyOrder(kind='signed', bits=32, descending=True, total_order=False)
        """
        kind, bits = KINDS.get(typestr[1]), 8 * width_of(typestr)
        if kind is None or bits not in _WIDTHS or (kind == "float" and bits not in _MANTISSA):
            raise OptionError(
                f"keys are of type {typestr!r}; sorted are whole numbers of 1 to 8 bytes, float16 to float64, bools and times"
            )
        return cls(kind, bits, descending, total_order)

    @property
    def words(self) -> tuple[int, int, int, int]:
        """Return fold, toggle, plus and infinity of a ``KeyRule``."""
        ones, sign = (1 << self.bits) - 1, 1 << (self.bits - 1)
        toggle = (0 if self.kind == "unsigned" else sign) ^ (ones if self.descending else 0)
        if self.kind == "time":
            return 0, toggle, 0 if self.descending or self.total_order else ones, 0
        if self.kind != "float":
            return 0, toggle, 0, 0
        if self.total_order:
            return sign - 1, toggle, 0, 0
        negative_nans = (1 << _MANTISSA[self.bits]) - 1
        infinity = sign - 1 - negative_nans
        return sign - 1, toggle, sign + infinity + 1 if self.descending else (1 << self.bits) - negative_nans, infinity

    @property
    def packed(self) -> bytes:
        """Return the bytes of a ``KeyRule`` for keys of this width."""
        return _packed(self, by_bits=False)

    @property
    def packed_by_bits(self) -> bytes:
        """Return the bytes of a ``KeyRule`` by which no keys of different bits are equal."""
        return _packed(self, by_bits=True)

    @property
    def has_equals(self) -> bool:
        """Return whether keys of different bits may be equal: then codes differ from equal codes (sort_key.hpp)."""
        return self.words[3] != 0

    def code(self, key: int) -> int:
        """Return the code of a key's bits; different keys have different codes."""
        fold, toggle, plus, _ = self.words
        return (self._folded(key, fold) ^ toggle) + plus & (1 << self.bits) - 1

    def key(self, code: int) -> int:
        """Return the bits of the key that has this code."""
        fold, toggle, plus, _ = self.words
        return self._folded((code - plus & (1 << self.bits) - 1) ^ toggle, fold)

    def equal_code(self, key: int) -> int:
        """Return the code that all keys share which compare equal."""
        fold, _, _, infinity = self.words
        if infinity and key & fold > infinity:
            return (1 << self.bits) - 1
        return self.code(0 if infinity and key & fold == 0 else key)

    def _folded(self, bits: int, fold: int) -> int:
        return bits ^ fold if bits >> (self.bits - 1) else bits


@lru_cache(256)
def _packed(order: KeyOrder, *, by_bits: bool) -> bytes:
    fold, toggle, plus, infinity = order.words
    return layout(f"KeyRule<u{order.bits}>").packer().pack(fold, toggle, plus, 0 if by_bits else infinity)
