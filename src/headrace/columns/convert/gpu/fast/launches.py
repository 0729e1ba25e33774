"""Launches of columns/convert/gpu/fast/convert_rows.cu in a load: which of its forms reads a text, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.columns.convert.gpu.column_group import Group
from headrace.columns.convert.gpu.fast.arguments import (
    CONVERT_ROWS,
    MEASURE_ROWS,
    TALLY_ROWS,
    RowColumns,
    RowReading,
    RowsFlag,
    RowShape,
    measure_program,
    row_program,
    tally_program,
)
from headrace.columns.convert.gpu.target import GpuShape, Place
from headrace.core.identity_cache import Recent
from headrace.gpu.kernels.launcher import Entry, Part, Room, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import plain_dialect
from headrace.structure.gpu.find import TileStructure
from headrace.structure.gpu.launches import TallyAndMore

_Readings = tuple[RowReading, RowReading] | None
_readings: Recent[_Readings] = Recent()


def _reading(dialect: Dialect, forms: tuple[str, ...]) -> _Readings:
    """How a text that these forms search is read by rows, without and with a tile's other bytes than ASCII being left."""
    masks = plain_dialect(dialect, quoted=dialect.quote_char is not None, declines=True)
    if masks is None:
        return None
    flags = RowsFlag.QUOTED * (dialect.quote_char is not None) + RowsFlag.STEPS * (not dialect.lenient_quotes)
    inside = sum(1 << state for state in dialect.automaton.quoted)
    by_masks = len(forms) - ("steps" in forms)
    plain, ascii_only = [RowReading(flags + more, by_masks, masks.tobytes(), inside) for more in (0, RowsFlag.ASCII)]
    return plain, ascii_only


def measuring(shape: GpuShape, group: Group, *, quoted: bool) -> TallyAndMore | None:
    """The search for structure that measures the group's strings as it goes, if it can, of a text taken to have quotes or not."""
    columns = group.by_rows(quotes=quoted, measures=True) if group.strings else None
    if columns is None:
        return None
    tile = shape.find.tile
    program = tally_program(shape.of_rows(quoted=quoted, strings=True), shape.find.threads)
    told = columns.shared_task(_TALLY_READINGS[group.has_text], tile), columns.briefs
    return TallyAndMore("quoted" if quoted else "bare", TALLY_ROWS, *program, told, columns.sizes_bytes(1, tile))


_TALLY_READINGS = RowReading(0, 1, bytes(8), 0), RowReading(int(RowsFlag.ASCII), 1, bytes(8), 0)
"""Without and with a tile's other bytes than ASCII being left; the dialect is the search's."""


@dataclass(frozen=True, slots=True)
class MeasuredStrings:
    """What is known of a text's strings once they are measured.

    Parameters
    ----------
    sums
        Bytes of those of each tile and column; then where they go.
    sizes
        Of what was measured by rows, bytes by 32 records.
    left
        A word for each tile, which is not 0 if it was not measured by rows; None if none was.
    """

    sums: Room
    sizes: Room | None = None
    left: Room | None = None


class RowLaunches:
    """Of one load.

    Parameters
    ----------
    place, dialect
        Where kernels run, on which text, and how it is written.
    found
        Its tiles.
    marks
        Zeros for the tiles of two launches, 4 bytes each; later ones make their own. The second ones are the search's, if that
        has measured strings.
    quoted
        Whether fields are taken to have quotes.
    """

    def __init__(self, place: Place, dialect: Dialect, found: TileStructure, marks: Room, quoted: bool) -> None:
        self._launcher, self._text, self._found = place.launcher, place.text, found
        self._marks = halves_of(marks, found.tiles)
        if found.did_more:
            self._marks.pop()
        self._reading = _readings.of(lambda: _reading(dialect, found.forms), dialect, key=found.forms)
        self._shapes, self._quoted = place.shape, quoted

    def go_on(self) -> None:
        """The marks that lie with the search are used."""
        self._marks.clear()

    def columns(self, group: Group, *, writes: bool) -> RowColumns | None:
        """The group as rows are read; None if this kernel cannot read it."""
        return None if self._reading is None else group.by_rows(quotes=self._quoted, measures=not writes)

    def measure(self, columns: RowColumns, table: Room, sums: Room, *, ascii_only: bool) -> MeasuredStrings:
        """Tell how many bytes each column of strings has in each tile, in `sums`; other parameters as of `convert`."""
        tile, tiles = self._shapes.find.tile, self._found.tiles
        program = measure_program(self._shape(columns), self._shapes.find.threads)
        marks, sizes = self._new_marks(), self._launcher.room(columns.sizes_bytes(tiles, tile))
        args = [self._text, self._found.entries, table, sums, sizes, marks, self._found.totals, self._task(columns, ascii_only)]
        self._launch(MEASURE_ROWS, program, args)
        return MeasuredStrings(sums, sizes, marks)

    def convert(
        self, columns: RowColumns, table: Room, strings: MeasuredStrings, *, ascii_only: bool, ahead: Room | None = None
    ) -> Room:
        """Make columns.

        Parameters
        ----------
        columns, table
            The columns, and where what the kernel is told of them lies.
        strings
            Where they go. Tiles that were not measured by rows are left.
        ascii_only
            Whether a tile with other bytes is left to the kernel behind.
        ahead
            What says whether the columns' room does, or None if the host knows.

        Returns
        -------
        Room
            A word for each tile, which is not 0 if it is left.
        """
        marks = self._new_marks()
        head = [self._text, self._found.entries, table, strings.sums, strings.sizes, strings.left, marks, self._found.totals]
        args = [*head, ahead, self._task(columns, ascii_only)]
        self._launch(CONVERT_ROWS, row_program(self._shape(columns), columns.strings > 0), args)
        return marks

    def _new_marks(self) -> Room:
        return self._marks.pop() if self._marks else self._launcher.room(self._found.tiles * 4, fill=0)

    def _shape(self, columns: RowColumns) -> RowShape:
        return self._shapes.of_rows(quoted=self._quoted, strings=bool(columns.strings))

    def _task(self, columns: RowColumns, ascii_only: bool) -> bytes:
        assert self._reading is not None
        return columns.task(self._reading[ascii_only], self._text.nbytes, self._found.tiles, self._shapes.find.tile)

    def _launch(self, entry: Entry, program: tuple[dict[str, int], int, int], args: list[Any]) -> None:
        defines, threads, shared = program
        self._launcher.launch(entry, Shape(defines, self._found.tiles, threads, shared), args)


def halves_of(marks: Room, tiles: int) -> list[Room]:
    """The zeros for two launches."""
    return [Part(marks, begin, tiles * 4) for begin in (0, tiles * 4)]


def strings_of_search(found: TileStructure, sums: Room, sizes: Room | None, marks: Room) -> MeasuredStrings:
    """What the search has left in these rooms, if it has measured strings."""
    return MeasuredStrings(sums, sizes, halves_of(marks, found.tiles)[1]) if found.did_more else MeasuredStrings(sums)
