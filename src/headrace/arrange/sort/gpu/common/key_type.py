"""Describes keys as kernels see them, and lists programs; it imports nothing that launches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from headrace.gpu.kernels.source import ANY

THREADS = 256  # threads per block of the small kernels of a sort

MIN_LISTED_BYTES = 4  # minimum width of keys whose programs are compiled ahead of time

ProgramRow = tuple[str, Mapping[str, Sequence[int | str]]]  # one row of a `PROGRAMS` list: a file and the values of its macros


class SortProgram(NamedTuple):
    """A program of a sort."""

    file: str
    defines: Mapping[str, Any]  # its file, and a value of each macro
    free_macro: str = ""
    """Name of a macro that takes any value. Such a program is compiled at its first use; without one, ahead of time."""


@dataclass(frozen=True, slots=True)
class KeyType:
    """The properties of keys that kernels are compiled for, and the rule that makes their codes."""

    width: int  # bytes of a key
    rule: bytes  # the bytes of a ``KeyRule`` (sort_key.hpp)
    equals: bool = False  # True if keys of different bits may compare equal and must then keep their order

    @property
    def by_equal_codes(self) -> KeyType:
        """Return these keys for a kernel that computes equal codes always: few instructions, and half as many programs.

        By the rule of keys alone (`KeyOrder.packed_by_bits`), equal codes are codes.
        """
        return replace(self, equals=True)

    @property
    def word(self) -> str:
        """Return the C++ type of a key."""
        return f"u{8 * self.width}"

    @property
    def free_macro(self) -> str:
        """Return `SortProgram.free_macro` for these keys: those of 1 or 2 bytes are seldom sorted."""
        return "HR_EQUALS" if self.width < MIN_LISTED_BYTES else ""

    def digit_count(self, bits: int) -> int:
        """Return the number of digits of `bits` bits in a key."""
        return -(-8 * self.width // bits)

    def defines(self, **sizes: int | str) -> Mapping[str, Any]:
        """Return the macros of a program. Equal arguments give the same object, by which a launcher finds its kernel."""
        return _defines(self.word, self.equals, **sizes)


@lru_cache(512)
def _defines(word: str, equals: bool, **sizes: int | str) -> Mapping[str, Any]:
    return {"HR_KEY": word, "HR_EQUALS": int(equals), **sizes}


def key_types(width: int, *, has_values: bool) -> Iterator[KeyType]:
    """Yield the key types of one width that programs are compiled for.

    Only floats that carry values need programs with `equals`, and no float has one byte.
    """
    yield KeyType(width, b"")
    if has_values and width > 1:
        yield KeyType(width, b"", equals=True)


def program_rows(programs: Iterable[SortProgram]) -> tuple[ProgramRow, ...]:
    """Return the rows of a `PROGRAMS` list, each program once."""
    unique = dict.fromkeys(
        (program.file, tuple((name, ANY if name == program.free_macro else value) for name, value in program.defines.items()))
        for program in programs
    )
    return tuple((file, {name: [value] for name, value in defines}) for file, defines in unique)
