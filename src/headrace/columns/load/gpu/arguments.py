"""Builds the arguments that kernels read from device memory for a group of columns.

One buffer has, in this order, the conversion rules, the table of columns with pointers to them, the fast kernels' tables, and the
estimate. The automaton's tables precede the estimate if it reads the text. Everything except addresses depends on the plan and
the dialect alone, so it is packed once (`ArgumentTemplate`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headrace import _native
from headrace.columns.convert.gpu.column_group import ColumnGroup, GpuPlan
from headrace.columns.convert.gpu.layouts import COLUMN
from headrace.columns.convert.gpu.row_columns import RowColumns, max_row_bytes
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer, Launcher
from headrace.structure.gpu.dialect_tables import DFA_TABLES, MAX_STATES


class FastTable(NamedTuple):
    """Columns as a fast kernel reads them, or None if it cannot; and their table on the device."""

    columns: RowColumns | None
    table: DeviceBuffer


@dataclass(slots=True, eq=False)
class ArgumentBuffers:
    """Slices of the argument buffer."""

    table: DeviceBuffer  # table of columns for the general kernels
    fast: list[FastTable]
    """Columns for the fast kernels, in the order of the template's `fast`: to measure strings, then to convert; or one of them.
    """
    ranges: DeviceBuffer  # ranges of sizes that the estimate covers


def argument_bytes(gpu_plan: GpuPlan, columns: int) -> int:
    """Return an upper bound of the buffer's bytes for a number of columns, each of which may be a string."""
    ranges = 16 * (columns + 1)
    tables = DFA_TABLES[MAX_STATES[-1]].itemsize + 16
    rules = -(-gpu_plan.rules_bytes // 16) * 16
    return int(rules + columns * COLUMN.itemsize + 16 + 2 * max_row_bytes(columns) + tables + ranges)


class ArgumentTemplate:
    """The arguments of a group without addresses, which `upload` fills in.

    `fast`: the columns as the fast kernels read them; None for a kernel that cannot read them or is not launched.
    `dfa`: the automaton's tables; empty if byte masks read the text.
    """

    def __init__(self, gpu_plan: GpuPlan, group: ColumnGroup, fast: Sequence[RowColumns | None], dfa: bytes) -> None:
        rules, rule_pointers = gpu_plan.rules
        table, table_pointers, table_buffers = group.table
        padding = (rules.nbytes + table.nbytes) % 16 // 8  # the fast kernels read rows of their tables in units of 16 bytes
        parts = [rules, table, np.zeros(padding, np.uint64)]
        begin = len(rules) + len(table) + padding
        buffers = [table_buffers + np.array([[len(rules)], [0]])]
        self._table = len(rules) * 8, table.nbytes
        self._fast: list[tuple[RowColumns | None, int, int]] = []
        ruled = [rule_pointers, table_pointers + len(rules)]
        for columns in fast:
            words, addressed = (
                (np.zeros(0, np.uint64), None) if columns is None else columns.table(group.values_at, group.offsets_at)
            )
            if columns is not None and addressed is not None:
                buffers.append(addressed + np.array([[begin], [0]]))
                ruled.append(columns.rule_words + begin)
            self._fast.append((columns, begin * 8, words.nbytes))
            parts.append(words)
            begin += len(words)
        parts.append(np.frombuffer(bytes(begin * 8 % 16 if dfa else 0) + dfa, np.uint64))
        self._ranges = begin * 8 + parts[-1].nbytes
        self.dfa_begin = self._ranges - len(dfa) if dfa else 0  # first byte of the automaton's tables; 0 without them
        pointers = np.concatenate(ruled).tolist()
        column_buffers = list(map(tuple, np.concatenate(buffers, axis=1).T.tolist()))
        first_seen = (len(rules) + group.first_seen_at).tolist()
        self.words = _native.AddressedWords(np.concatenate(parts).tolist(), pointers, column_buffers, first_seen)

    def upload(
        self,
        launcher: Launcher,
        buffer: DeviceBuffer,
        addresses: Sequence[int] = (),
        *,
        first_seen: tuple[int, int] = (0, 0),
        ranges: Sequence[int] = (),
    ) -> None:
        """Copy the arguments to the device, in one transfer. `buffers` returns the slices.

        `buffer`: at least `argument_bytes` bytes.
        `addresses`: addresses of the group's column buffers. Empty for kernels that write no column.
        `first_seen`: address of the first column's records of first occurrences, and their bytes for each column. Zeros if no
        type is inferred.
        `ranges`: the words of `SizeEstimate.ranges`.
        """
        words = self.words.at(buffer.address, addresses, first_seen, ranges)
        launcher.put(words, BufferSlice(buffer, 0, len(words)))

    def buffers(self, buffer: DeviceBuffer, ranges: int = 0) -> ArgumentBuffers:
        """Return the slices of a buffer, whose estimate has `ranges` words."""
        return ArgumentBuffers(
            self.table(buffer),
            [FastTable(columns, BufferSlice(buffer, begin, size)) for columns, begin, size in self._fast],
            BufferSlice(buffer, self._ranges, 8 * ranges),
        )

    def table(self, buffer: DeviceBuffer) -> DeviceBuffer:
        """Return the slice of the table of columns."""
        return BufferSlice(buffer, *self._table)


def argument_template(
    gpu_plan: GpuPlan, group: ColumnGroup, fast: Sequence[RowColumns | None], dfa: bytes = b""
) -> ArgumentTemplate:
    """Return the template of a group, which is cached in the group. The parameters are those of `ArgumentTemplate`."""
    key = (*map(id, fast), dfa)  # these objects live as long as the group
    template = group.argument_templates.get(key)
    if template is None:
        template = group.argument_templates[key] = ArgumentTemplate(gpu_plan, group, fast, dfa)
    return template
