"""Chooses the filter of a search on a GPU by the pattern, and computes its fingerprints."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import NamedTuple

from headrace.query.find.gpu.tuning import FORMS
from headrace.query.find.pattern.pattern import Pattern

_FACTOR = 0x9E3779B1  # factor of fingerprints (filter.cuh)
_LETTER_BITS = 0x20202020
_MASK = 2**32 - 1
_SHORT, _LONG = 4, 15  # largest form that compares all bytes, and least form whose windows lie at aligned words
_MAX_KNOWN = 4096  # bytes of the longest pattern whose plan is cached: a plan takes a quarter of the host's time of a call


class FilterPlan(NamedTuple):
    """The filter of a pattern: the fields of ``FindTask`` that describe it, and the form of the kernel."""

    form: int
    prints: tuple[int, int, int, int]
    compared: tuple[int, int, int, int]
    letter_bits: int
    lead: int

    @classmethod
    def of(cls, pattern: Pattern) -> FilterPlan:
        """Return the plan of a pattern. It does not depend on the text, so no text is sampled and the host does not wait."""
        return _known_plan(pattern) if len(pattern) <= _MAX_KNOWN else _new_plan(pattern)


def _new_plan(pattern: Pattern) -> FilterPlan:
    if len(pattern) <= _SHORT:
        return _short_plan(pattern)
    form = FORMS[bisect_right(FORMS, len(pattern)) - 1]
    if form >= _LONG:
        # A window at an aligned word may lack up to three bytes of each end of these. Windows of one byte value find
        # many false hits in texts such as "aaaa".
        shared = range(3, form - 3)
        offset = pattern.native.varied_window(form, shared.start, shared.stop)
        if len({*pattern.folded[offset + shared.start : offset + shared.stop]}) == 1:
            form = max(form for form in FORMS if form < _LONG)
    letter_bits = _LETTER_BITS if pattern.ignore_case and any(map(_is_letter, pattern.folded)) else 0
    step = 4 if form >= _LONG else 1
    width = (form - step + 1) // 4 * 4
    if step == 1:
        offset = pattern.native.varied_window(width, 0, width)
    begins = range(offset, offset + step)
    prints = [_print(pattern.folded[begin : begin + width], letter_bits) for begin in begins] + [0] * (4 - step)
    return FilterPlan(form, _four(prints), (0, 0, 0, 0), letter_bits, offset + step - 1)


def _short_plan(pattern: Pattern) -> FilterPlan:
    form = FORMS[bisect_left(FORMS, len(pattern))]  # bytes that a pattern lacks are compared with a mask of 0
    compared = [0xDF if pattern.ignore_case and _is_letter(byte) else 0xFF for byte in pattern.folded]
    prints = [byte & mask for byte, mask in zip(pattern.folded, compared, strict=True)]
    return FilterPlan(form, _four([_repeated(byte) for byte in prints]), _four([_repeated(mask) for mask in compared]), 0, 0)


@lru_cache(maxsize=64)
def _known_plan(pattern: Pattern) -> FilterPlan:
    return _new_plan(pattern)


def _print(window: bytes, letter_bits: int) -> int:
    found = 0
    for begin in range(0, len(window), 4):
        found = found * _FACTOR + (int.from_bytes(window[begin : begin + 4], "little") | letter_bits) & _MASK
    return found


def _is_letter(byte: int) -> bool:
    return bytes([byte]).isalpha()


def _repeated(byte: int) -> int:
    return byte * 0x01010101


def _four(numbers: list[int]) -> tuple[int, int, int, int]:
    first, second, third, fourth = [*numbers, 0, 0, 0, 0][:4]
    return first, second, third, fourth
