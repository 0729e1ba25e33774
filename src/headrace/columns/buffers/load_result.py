"""Defines the result of a load: columns, evidence for inferred types, faults and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import Buffer
from headrace.core.fast_constructor import fast_constructor


class CutRecordError(Exception):
    """The source ends inside a record of the part, and more text follows: load the part again with more of it."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The point where the load of a part ended."""

    end: int = 0  # one past the last byte of the last record
    state: int = 0  # the automaton's state at the part's `stop`
    by_lines: bool = False  # True if each line is one record, from the first record of data on


@dataclass(frozen=True, slots=True)
class Evidence:
    """The field that decided an inferred type: no earlier field needs so wide a type.

    `record`: number of the data record, from 1.
    `byte`: first byte of the field in the source.
    `text`: first bytes of the field.
    `file`: if several files were read, the path of the file with the field. If the values come from paths (hive partitions),
    the record is 0.
    `rounded`: if integers became float64, the first that it cannot represent exactly, such as 9007199254740993.
    """

    record: int
    byte: int
    text: bytes
    file: str | None = None
    rounded: Evidence | None = None

    def __str__(self) -> str:
        file = "" if self.file is None else f"{self.file}, "
        return f"{file}record {self.record}: {self.text.decode('utf-8', 'backslashreplace')!r}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of a load."""

    columns: Sequence[Column | None]
    evidence: Sequence[Evidence | None]  # in the order of the plan; None for columns that are not wanted
    rejects: Mapping[str, Column]  # the table of faults: the first ones, if there are more than `max_rejects`
    counts: dict[str, int]  # numbers of records, rows, rejected, filled, leading, blank, comment, faults and passes
    row_index: Column | None  # index of each row's record, if the plan asks for it
    replaced: tuple[int, ...] = ()  # for each column, the number of strings that were mended with U+FFFD
    seconds: dict[str, float] = field(default_factory=dict)  # time by stage
    device: str = "cpu"  # the device where the text was read
    reached: Reached = Reached()  # the end of a part
    rejected_records: bytes = b""
    """Numbers of the rejected records from 1, ascending, as 64-bit words; for a load that shares its types with others."""
    described: Sequence[tuple[DataType, int] | None] | None = None
    """Type and number of nulls of each column, if columns are made on demand."""
    used_dfa: bool = False  # True if the automaton read the text on a GPU because masks misread its quotes
    left_out: int = 0  # number of records that a condition left out
    spans: tuple[Buffer, Buffer] | None = None
    """First byte, and one past the last, of each row's record without its line end, as buffers of 64-bit words, if wanted."""

    def descriptions(self) -> Sequence[tuple[DataType, int] | None]:
        """Return the type and number of nulls of each column; None for columns that are not wanted."""
        if self.described is not None:
            return self.described
        return [None if column is None else (column.type, column.null_count) for column in self.columns]


def evidence_of(found: Sequence[Any] | None, files: Sequence[str] | None = None) -> Evidence | None:
    """Return the evidence in a tuple of the native code.

    `found`: (record, byte, text, number of the file, the same for a rounded integer or None), or None.
    `files`: the names of the files, if there are several.
    """
    if found is None:
        return None
    record, byte, text, file, rounded = found
    its_rounded = None if rounded is None else evidence_of(rounded, files)
    return _evidence(record, byte, text, None if files is None else files[file], its_rounded)


_evidence = fast_constructor(Evidence)
