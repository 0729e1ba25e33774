"""A change of a store: rows that are removed and rows that are added, together; and its bytes in the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any

from headrace.columns.column import Column
from headrace.core.buffer import part_of
from headrace.core.errors import MissingDependencyError
from headrace.store.arrow_columns import columns_in, ipc_parts
from headrace.store.files.manifest import MAX_NUMBER

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

_START = Struct("<QQ")  # number of the first row that is added, and number of the rows that are removed


@dataclass(frozen=True, slots=True)
class Change:
    """Rows that are removed and rows that are added, together."""

    first_row: int  # number of the first row that is added
    removed: Any  # numbers of the rows that are removed, ascending: an array of uint64
    columns: Mapping[str, Column]  # columns of the rows that are added

    @property
    def length(self) -> int:
        """Number of rows that are added."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows that are added."""
        return sum(column_bytes(column) for column in self.columns.values())

    def encoded(self) -> list[bytes | memoryview]:
        """Return the parts of the record's payload: two counts, the numbers of removed rows, and an Arrow IPC stream."""
        numbers = np.ascontiguousarray(self.removed, "<u8")
        rows = ipc_parts(self.columns) if self.length else []
        return [_START.pack(self.first_row, len(numbers)), numbers.view(np.uint8).data, *rows]

    @classmethod
    def decoded(cls, payload: memoryview) -> Change:
        """Return the change of a payload. Its columns are parts of the payload's memory.

        Raise ValueError or another error of Python if no writer writes such a payload.
        """
        first_row, count = _START.unpack_from(payload)
        end = _START.size + 8 * count
        if end > len(payload) or first_row > MAX_NUMBER:
            raise ValueError(f"its counts, {first_row} and {count}, are too large")
        removed = np.frombuffer(payload[_START.size : end], "<u8").copy()
        return cls(first_row, removed, columns_in(part_of(payload[end:])) if len(payload) > end else {})


def column_bytes(column: Column) -> int:
    """Return the bytes that the rows of a column take, without those that a slice leaves out.

    >>> from headrace import read_csv
    >>> column_bytes(read_csv(b"a\\n1\\n2\\n3\\n")["a"][1:])
    16
    """
    width = 0 if column.type.name == "null" else column.type.bits
    count = -(-column.length * width // 8)
    if column.validity is not None:
        count += -(-column.length // 8)
    if column.offsets is None or not column.length:
        return count
    ends = np.frombuffer(memoryview(column.offsets), f"<i{column.type.bits // 8}")
    return count + int(ends[column.offset + column.length] - ends[column.offset])
