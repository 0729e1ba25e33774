"""Represents a column as a sorted dictionary and packed codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.columns.column import Column
from headrace.columns.pickling import Bytes, packed
from headrace.columns.types import DataType
from headrace.core.buffer import Buffer, copy_of
from headrace.core.errors import OptionError, counted
from headrace.core.options import instance, integer

MAX_VALUES = (1 << 32) - 1  # maximum number of values of a dictionary: codes and counts of values have 32 bits

_SHOWN = 5  # number of values that the representation shows


def code_bits(count: int) -> int:
    """Return the bits of a code of `count` values: ceil(log2 count); 0 without values.

    Examples
    --------
    >>> [code_bits(count) for count in (0, 1, 2, 3, 4, 5, 1 << 32)]
    [0, 0, 1, 2, 2, 3, 32]
    """
    return (count - 1).bit_length() if count else 0


def words_of_codes(count: int, bits: int) -> int:
    """Return the words of 64 bits that `count` codes take."""
    return -(-count * bits // 64)


@dataclass(frozen=True, slots=True, repr=False)
class EncodedColumn:
    """A column as a sorted dictionary of its distinct values and a packed code for each row (Krueger et al. 2011, section 2).

    All buffers are little-endian and can be stored as they are.

    Parameters
    ----------
    dictionary
        The distinct values, ascending, without nulls. Numbers, dates and times are in their order, False precedes True, and texts
        and bytes are in the order of their bytes. Floats are in the total order of IEEE 754 (-NaN, -inf .. -0.0, 0.0 .. inf,
        NaN), and values of different bits are different values.
    words
        Codes, each the index of its row's value, as a stream of bits: code ``i`` has the bits from ``i * bits`` on, in words of
        64 bits. A null has the code 0.
    length
        Number of rows.
    null_count
        Number of nulls.
    validity
        One bit per row, 1 for a value, least significant first; None without nulls.

    Examples
    --------
    >>> from headrace import read_csv
    >>> from headrace.store.dictionary.encode import encode
    >>> encoded = encode(read_csv(b"city\\nRome\\nOslo\\nRome\\n")["city"])
    >>> encoded.dictionary.to_pylist(), encoded.bits, memoryview(encoded.words).tolist()
    (['Oslo', 'Rome'], 1, [5, 0, 0, 0, 0, 0, 0, 0])
    >>> encoded
    EncodedColumn(string, 3 rows, 0 null, 2 distinct in codes of 1 bit)['Rome', 'Oslo', 'Rome']
    """

    dictionary: Column
    words: Buffer
    length: int
    null_count: int = 0
    validity: Buffer | None = None

    def __post_init__(self) -> None:
        instance("dictionary", self.dictionary, Column)
        integer("length", self.length, "a number of rows", 0, 1 << 62)
        integer("null_count", self.null_count, f"a number of nulls, 0 to {self.length}", 0, self.length)
        if self.dictionary.null_count or self.dictionary.offset or len(self.dictionary) > MAX_VALUES:
            raise OptionError(f"dictionary must have no nulls, no offset, and at most {MAX_VALUES:_} values")
        if not len(self.dictionary) and self.null_count < self.length:
            raise OptionError("dictionary is empty, and rows have values")
        if (self.validity is None) != (self.null_count == 0):
            raise OptionError("validity must be given for a column with nulls, and for no other")
        needed = ("words", self.words, self.length * self.bits), ("validity", self.validity, self.length)
        for name, buffer, bits in needed:
            if buffer is not None and buffer.nbytes * 8 < bits:
                raise OptionError(f"{name} has {buffer.nbytes} bytes, and {self.length} rows need {-(-bits // 8)}")

    def __len__(self) -> int:
        return self.length

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        words, validity = (packed(part, protocol) for part in (self.words, self.validity))
        return _remade, (self.dictionary, words, self.length, self.null_count, validity)

    def __repr__(self) -> str:
        shown = ", ".join(repr(self._value(row)) for row in range(min(self.length, _SHOWN)))
        more = ", ..." if self.length > _SHOWN else ""
        codes = f"{len(self.dictionary):_} distinct in codes of {counted(self.bits, 'bit')}"
        return f"EncodedColumn({self.type}, {self.length:_} rows, {self.null_count:_} null, {codes})[{shown}{more}]"

    def _value(self, row: int) -> object:
        """Return the value of one of the first rows, without NumPy."""
        if self.validity is not None and not memoryview(self.validity)[row >> 3] >> (row & 7) & 1:
            return None
        codes = int.from_bytes(memoryview(self.words)[: -(-_SHOWN * self.bits // 8)], "little")
        return self.dictionary[codes >> (row * self.bits) & ((1 << self.bits) - 1)]

    @property
    def type(self) -> DataType:
        """Type of the values."""
        return self.dictionary.type

    @property
    def bits(self) -> int:
        """Bits of a code."""
        return code_bits(len(self.dictionary))

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        dictionary = self.dictionary
        parts = (dictionary.values, dictionary.offsets, self.words, self.validity)
        return sum(part.nbytes for part in parts if part is not None)


def _remade(dictionary: Column, words: Bytes, length: int, null_count: int, validity: Bytes | None) -> EncodedColumn:
    return EncodedColumn(dictionary, copy_of(words), length, null_count, None if validity is None else copy_of(validity))
