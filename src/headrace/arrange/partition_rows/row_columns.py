"""Hashes and compares rows of columns on a GPU: launches hash_rows.cu and equal_rows.cu."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.arrange.gather.take import is_all_null
from headrace.arrange.partition_rows.rows import hashed_width
from headrace.arrange.partition_rows.tuning import EQUAL_THREADS, HASH_THREADS
from headrace.columns.column import Column
from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape

_HASHED_COLUMN, _COMPARED_COLUMN = layout("HashedColumn"), layout("ComparedColumn")
_PACKED_HASHED, _PACKED_COMPARED = _HASHED_COLUMN.packer(), _COMPARED_COLUMN.packer()
_NO_TEXTS = bytes(_HASHED_COLUMN.size)
_HASH = Entry("arrange/partition_rows/hash_rows.cu", "hash_rows", f"{_HASHED_COLUMN.argument}QQP")
_WORDS = Entry("arrange/partition_rows/hash_rows.cu", "hash_words", f"{_HASHED_COLUMN.argument}QQP")
_COMPARE = Entry(
    "arrange/partition_rows/equal_rows.cu", "compare_rows", f"{_COMPARED_COLUMN.argument}{_COMPARED_COLUMN.argument}PPQIP"
)
UNMATCHED, EQUAL, UNEQUAL = 0, 1, 2  # RowVerdict of equal_rows.hpp


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column in device memory, as kernels read it."""

    hashed: bytes  # bytes of a ``HashedColumn``
    texts: bytes  # bytes of the ``HashedColumn`` of a dictionary's texts; zeros for other columns
    held: tuple[Any, ...]  # buffers that must stay alive while the column is used

    @classmethod
    def of(cls, launcher: Launcher, column: Column, secret: int = 0) -> RowColumn:
        """Describe a column. The words of a dictionary's texts are hashed; `secret`: as for `row_hashes`."""
        if is_all_null(column):
            none = launcher.allocate(len(column) // 8 + 1, fill=0)
            return cls(_PACKED_HASHED.pack(0, 0, none.address, 0, 0, 0, 1, 0), _NO_TEXTS, (none,))
        parts: Any = column
        held: list[Any] = [parts.values, parts.offsets, parts.validity, *parts.data]
        places = [0 if part is None else part.address for part in held[:3]]
        data = words = 0
        texts = _NO_TEXTS
        if column.type.name == "string_view":
            held.append(launcher.put(np.array([*(buffer.address for buffer in column.data), 0], np.uint64)))
            data = held[-1].address
        if column.dictionary is not None:
            inner = cls.of(launcher, column.dictionary)
            held += [*inner.held, launcher.allocate(len(column.dictionary) * 8)]
            _launch_hash(launcher, _WORDS, inner.hashed, len(column.dictionary), secret, held[-1])
            words, texts = held[-1].address, inner.hashed
        width, is_float = hashed_width(column)
        return cls(_PACKED_HASHED.pack(*places, data, words, column.offset, width, is_float), texts, tuple(held))

    @property
    def compared(self) -> bytes:
        """Bytes of a ``ComparedColumn``."""
        return _PACKED_COMPARED.pack(self.hashed, self.texts)


def row_hashes(launcher: Launcher, columns: Iterable[RowColumn], rows: int, secret: int = 0) -> DeviceBuffer:
    """Return a hash of 8 bytes for each row, the same as on the host; `secret`: that of the process, or 0 for none."""
    hashes = launcher.allocate(rows * 8, fill=0)
    for column in columns:
        _launch_hash(launcher, _HASH, column.hashed, rows, secret, hashes)
    return hashes


@dataclass(frozen=True, slots=True)
class ComparedPairs:
    """Pairs of rows in device memory, and a verdict of a byte for each.

    The verdict is `EQUAL` at first, or `UNMATCHED` for a row without a pair. So the flags of a search for keys are verdicts.
    """

    rows: DeviceBuffer | None
    others: DeviceBuffer  # row numbers in the two tables; None for the rows 0, 1, 2, ... of the first one
    count: int
    width: int  # number of pairs, and bytes of a row number
    verdicts: DeviceBuffer  # The verdicts. Pairs of other verdicts than `EQUAL` are not compared.

    def compare(
        self, launcher: Launcher, ones: Mapping[str, RowColumn], others: Mapping[str, RowColumn], *, are_nulls_equal: bool
    ) -> None:
        """Compare the columns of the same names. Without `are_nulls_equal`, a row with a null is `UNMATCHED`."""
        defines: dict[str, Any] = {"HR_ROW": f"u{8 * self.width}", "HR_THREADS": EQUAL_THREADS}
        shape = Shape(defines, -(-self.count // EQUAL_THREADS), EQUAL_THREADS)
        for name, one in ones.items():
            args = (one.compared, others[name].compared, self.rows, self.others, self.count, int(are_nulls_equal), self.verdicts)
            if self.count:
                launcher.launch(_COMPARE, shape, args)


def _launch_hash(launcher: Launcher, entry: Entry, column: bytes, rows: int, *args: Any) -> None:
    """Launch a kernel of hash_rows.cu. `args`: secret and results."""
    if rows:
        shape = Shape({"HR_THREADS": HASH_THREADS}, -(-rows // HASH_THREADS), HASH_THREADS)
        launcher.launch(entry, shape, (column, rows, *args))
