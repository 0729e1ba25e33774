"""Holds the device buffers of one column of a load on a GPU, and the type that it is converted as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.columns.column import Column, new_column
from headrace.columns.native_columns import type_named
from headrace.columns.types import DataType, has_offsets
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnAddresses:
    """Device addresses of a wanted column's buffers, 0 for a buffer that the column does not have."""

    position: int  # index among the fields of a record
    type: DataType  # type of the values; string while it is not yet inferred
    guess: int | None = None  # kind of text (columns/rules/infer.hpp) that the column is converted as; None if its type is given
    values: int = 0
    offsets: int = 0
    validity: int = 0
    sightings: int = 0  # Addresses. Before a launch, the bits of bools are zeros, and validity and sightings are all ones.
    raw: bool = False  # strings: whether values are the raw bytes of the fields


@dataclass(slots=True)
class ColumnBuffers:
    """One column: its assumed type and its device buffers."""

    position: int  # index among the fields of a record
    type: DataType  # type of its values
    guess: int | None  # kind of text that the column is converted as; None if its type is given
    large: bool = False  # True if its offsets have 64 bits because its bytes exceed the range of 32
    buffers: dict[str, DeviceBuffer] = field(default_factory=dict)
    """Device buffers by name: ``"values"``, ``"offsets"``, ``"validity"``, ``"sightings"``; not every column has all."""
    nulls: int = 0  # number of null rows
    replaced: int = 0  # number of strings that were mended with U+FFFD, including those of rejected records

    @property
    def stored_type(self) -> DataType:
        """The type with offsets as they are in memory."""
        return type_named(f"large_{self.type}") if self.large else self.type

    def described(self) -> ColumnAddresses:
        """Return the addresses of the buffers, for the table of the kernels."""
        values, offsets, validity, sightings = (
            self.buffers[name].address if name in self.buffers else 0 for name in ("values", "offsets", "validity", "sightings")
        )
        return ColumnAddresses(
            position=self.position,
            type=self.stored_type,
            guess=self.guess,
            values=values,
            offsets=offsets,
            validity=validity,
            sightings=sightings,
        )

    def allocate(self, launcher: Launcher, rows: int) -> None:
        """Allocate buffers for a number of rows. Bits are zero, other buffers are uninitialised.

        The bytes of strings are allocated by the caller, when they are counted.
        """
        words = validity_words(rows)
        self.buffers["validity"] = launcher.allocate(words * 4, fill=0)
        if has_offsets(self.stored_type):
            self.buffers["offsets"] = launcher.allocate((rows + 1) * self.stored_type.bits // 8)
        elif self.stored_type.bits == 1:
            self.buffers["values"] = launcher.allocate(words * 4, fill=0)
        else:
            self.buffers["values"] = launcher.allocate(rows * self.stored_type.bits // 8)

    def column(self, launcher: Launcher, rows: int) -> Column:
        """Return the finished column."""
        result: Any = launcher.result
        buffers = self.buffers
        return new_column(
            type=self.stored_type,
            length=rows,
            null_count=self.nulls,
            values=result(buffers["values"]),
            validity=result(buffers["validity"]) if self.nulls and self.type.name != "null" else None,
            offsets=result(buffers["offsets"]) if "offsets" in buffers else None,
        )


def validity_words(rows: int) -> int:
    """Return the 32-bit words of a bitmap: one more than the full ones."""
    return rows // 32 + 1
