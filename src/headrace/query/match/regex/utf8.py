"""Splits ranges of characters into ranges of the bytes of their UTF-8 forms."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LAST_OF_LENGTH = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)
_SURROGATES = (0xD800, 0xDFFF)
ByteRanges = tuple[tuple[int, int], ...]


def byte_ranges(low: int, high: int) -> Iterator[ByteRanges]:
    """Yield sequences of byte ranges that match the UTF-8 forms of the characters from `low` to `high`, and nothing else.

    Surrogates have no UTF-8 form and are left out. Example: é to ࠀ (0xE9 to 0x800) has three sequences.

    >>> [[f"{a:02x}-{b:02x}" for a, b in ranges] for ranges in byte_ranges(0xE9, 0x800)]
    [['c3-c3', 'a9-bf'], ['c4-df', '80-bf'], ['e0-e0', 'a0-a0', '80-80']]
    """
    if low <= _SURROGATES[1] and high >= _SURROGATES[0]:
        if low < _SURROGATES[0]:
            yield from byte_ranges(low, _SURROGATES[0] - 1)
        if high > _SURROGATES[1]:
            yield from byte_ranges(_SURROGATES[1] + 1, high)
        return
    for last in _LAST_OF_LENGTH:
        if low <= last < high:
            yield from byte_ranges(low, last)
            yield from byte_ranges(last + 1, high)
            return
    if high <= _LAST_OF_LENGTH[0]:
        yield ((low, high),)
        return
    # The bytes after the first unequal one have to take all values, from 80 to BF, or be equal.
    for bits in (6, 12, 18):
        mask = (1 << bits) - 1
        if low >> bits == high >> bits:
            break
        if low & mask:
            yield from byte_ranges(low, low | mask)
            yield from byte_ranges((low | mask) + 1, high)
            return
        if high & mask != mask:
            yield from byte_ranges(low, (high & ~mask) - 1)
            yield from byte_ranges(high & ~mask, high)
            return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))
