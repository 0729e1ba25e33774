"""What kernels are told of a group's columns, in memory: rules, the table of columns that points to them, the same as rows are
read, and what is expected of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headrace import _native
from headrace.columns.convert.gpu.column_group import Group, PlanOnGpu
from headrace.columns.convert.gpu.layouts import COLUMN
from headrace.columns.convert.gpu.row_columns import RowColumns, most_row_bytes
from headrace.gpu.kernels.launcher import Launcher, Part, Room


@dataclass(slots=True, eq=False)
class Told:
    """Where it lies.

    Parameters
    ----------
    table
        Of the columns.
    rows
        Tables of the columns as rows are read.
    ranges
        What is expected.
    """

    table: Room
    rows: list[Room]
    ranges: Room


def told_bytes(known: PlanOnGpu, columns: int) -> int:
    """Of what can be told of so many columns, all of which may be strings."""
    ranges = 16 * (columns + 1)
    return int(-(-known.rules_bytes // 16) * 16 + columns * COLUMN.itemsize + 16 + 2 * most_row_bytes(columns) + ranges)


class Telling:
    """All of it but addresses, which `upload` fills in.

    Parameters
    ----------
    known, group
        The plan, and columns of it.
    rows
        The columns as rows are read; None where they cannot be, or need not.
    """

    def __init__(self, known: PlanOnGpu, group: Group, rows: Sequence[RowColumns | None]) -> None:
        rules, pointers = known.rules
        table, own_pointers, own_places = group.table
        behind = (rules.nbytes + table.nbytes) % 16 // 8  # rows of the other tables are read sixteen bytes at a time
        parts = [rules, table, np.zeros(behind, np.uint64)]
        begin = len(rules) + len(table) + behind
        places = [own_places + np.array([[len(rules)], [0]])]
        self._table = len(rules) * 8, table.nbytes
        self._rows = []
        for one in rows:
            words, its_places = (np.zeros(0, np.uint64), None) if one is None else one.table(group.values_at, group.offsets_at)
            if its_places is not None:
                places.append(its_places + np.array([[begin], [0]]))
            self._rows.append((begin * 8, words.nbytes))
            parts.append(words)
            begin += len(words)
        self._ranges = begin * 8
        own = np.concatenate((pointers, own_pointers + len(rules))).tolist()
        of_rooms = list(map(tuple, np.concatenate(places, axis=1).T.tolist()))
        sightings = (len(rules) + group.sightings_at).tolist()
        self._words = _native.AddressedWords(np.concatenate(parts).tolist(), own, of_rooms, sightings)

    def upload(
        self,
        launcher: Launcher,
        room: Room,
        addresses: Sequence[int] = (),
        *,
        sightings: tuple[int, int] = (0, 0),
        ranges: Sequence[int] = (),
    ) -> None:
        """Put it in memory, by one upload; `told` says where each part of it lies.

        Parameters
        ----------
        launcher
            Where kernels run.
        room
            Of `told_bytes`.
        addresses
            Of the group's rooms; none, for kernels that make no column.
        sightings
            Where those of the first column lie, and how many bytes each has; 0 where there are none.
        ranges
            What is expected, as words.
        """
        words = self._words.at(room.address, addresses, sightings, ranges)
        launcher.put(words, Part(room, 0, len(words)))

    def told(self, room: Room, ranges: int = 0) -> Told:
        """Where it lies, with so many words of what is expected."""
        return Told(self.table(room), [Part(room, *one) for one in self._rows], Part(room, self._ranges, 8 * ranges))

    def table(self, room: Room) -> Room:
        """Where the table of columns lies."""
        return Part(room, *self._table)


def telling(known: PlanOnGpu, group: Group, rows: Sequence[RowColumns | None]) -> Telling:
    """That of a group, which is kept with it."""
    key = tuple(map(id, rows))  # they live as long as the group
    found = group.tellings.get(key)
    if found is None:
        found = group.tellings[key] = Telling(known, group, rows)
    return found
