"""Launches of columns/convert/convert_rows.cu in a load: which of its forms reads a text, and what it is told."""

from __future__ import annotations

from headrace.columns.convert.rows_gpu import (
    CONVERT_ROWS,
    MEASURE_ROWS,
    TALLY_ROWS,
    RowColumns,
    RowReading,
    RowsFlag,
    measure_program,
    row_program,
    tally_program,
)
from headrace.columns.load.place_gpu import GpuShape, Place
from headrace.columns.load.plan_gpu import Group
from headrace.core.gpu.launcher import Part, Room, Shape
from headrace.core.recent import Recent
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import TallyAndMore, TileStructure, tile_count
from headrace.structure.gpu_tables import plain_dialect

_Readings = tuple[RowReading, RowReading] | None
_readings: Recent[_Readings] = Recent()


def _reading(dialect: Dialect, forms: tuple[str, ...]) -> _Readings:
    """How a text that these forms search is read by rows, without and with a tile's other bytes than ASCII being left."""
    masks = plain_dialect(dialect, quoted=dialect.quote is not None, declines=True)
    if masks is None:
        return None
    flags = RowsFlag.QUOTED * (dialect.quote is not None) + RowsFlag.STEPS * (not dialect.lenient)
    inside = sum(1 << state for state in dialect.automaton.quoted)
    by_masks = len(forms) - ("steps" in forms)
    plain, ascii_only = [RowReading(flags + more, by_masks, masks.tobytes(), inside) for more in (0, RowsFlag.ASCII)]
    return plain, ascii_only


def measuring(shape: GpuShape, group: Group, text: Room, *, quoted: bool) -> TallyAndMore | None:
    """The search for structure that measures the group's strings as it goes, if it can, of a text taken to have quotes or not."""
    columns = group.by_rows(quotes=quoted, measures=True) if group.strings else None
    if columns is None:
        return None
    tiles = tile_count(text, shape.find)
    form = "quoted" if quoted else "bare"
    defines, threads, shared = tally_program(shape.of_rows(quoted=quoted, strings=True), shape.find.threads)
    task = columns.task(_TALLY_READINGS[group.has_text], text.nbytes, tiles, shape.find.tile)
    room = columns.sizes_bytes(tiles, shape.find.tile)
    return TallyAndMore(form, TALLY_ROWS, Shape(defines, tiles, threads, shared), (task, columns.briefs), room)


_TALLY_READINGS = RowReading(0, 1, bytes(8), 0), RowReading(int(RowsFlag.ASCII), 1, bytes(8), 0)
"""Without and with a tile's other bytes than ASCII being left; the dialect is the search's."""


class RowLaunches:
    """Of one load.

    Parameters
    ----------
    place, dialect
        Where kernels run, on which text, and how it is written.
    found
        Its tiles.
    marks
        Zeros for the tiles of two launches, 4 bytes each; later ones make their own.
    quoted
        Whether fields are taken to have quotes.
    """

    def __init__(self, place: Place, dialect: Dialect, found: TileStructure, marks: Room, quoted: bool) -> None:
        self._launcher, self._text, self._found = place.launcher, place.text, found
        self._marks = [Part(marks, begin, found.tiles * 4) for begin in (0, found.tiles * 4)]
        self.measured: Room | None = self._marks.pop() if found.did_more else None
        """What the search has left of tiles whose strings it was to measure: a word each, which is not 0 if it has not."""
        self._sizes: Room | None = found.more[-1] if found.did_more else None  # of strings, by 32 records
        self._reading = _readings.of(lambda: _reading(dialect, found.forms), dialect, key=found.forms)
        self._shapes, self._quoted = place.shape, quoted

    def columns(self, group: Group, *, writes: bool) -> RowColumns | None:
        """The group as rows are read; None if this kernel cannot read it."""
        return None if self._reading is None else group.by_rows(quotes=self._quoted, measures=not writes)

    def launch(
        self,
        columns: RowColumns,
        table: Room,
        sums: Room | None,
        *,
        ascii_only: bool,
        writes: bool,
        left: Room | None = None,
        ahead: Room | None = None,
    ) -> Room:
        """Read tiles by rows.

        Parameters
        ----------
        columns, table
            The columns, and where what the kernel is told of them lies.
        sums
            Bytes of the strings of each tile, to be written, or where they go.
        ascii_only
            Whether a tile with other bytes is left to the kernel behind.
        writes
            Whether columns are made, or strings measured.
        left
            Where columns are made: marks of the tiles whose strings were not measured by rows; None if none were.
        ahead
            Where columns are made: what says whether their room does, or None if the host knows.

        Returns
        -------
        Room
            A word for each tile, which is not 0 if it is left.
        """
        assert self._reading is not None
        launcher, tiles = self._launcher, self._found.tiles
        marks: Room = self._marks.pop() if self._marks else launcher.room(tiles * 4, fill=0)
        tile = self._shapes.find.tile
        task = columns.task(self._reading[ascii_only], self._text.nbytes, tiles, tile)
        if not writes:
            self._sizes = launcher.room(columns.sizes_bytes(tiles, tile))
        shape = self._shapes.of_rows(quoted=self._quoted, strings=bool(columns.strings))
        if writes:
            defines, threads, shared = row_program(shape, columns.strings > 0)
        else:
            defines, threads, shared = measure_program(shape, self._shapes.find.threads)
        args: list[object] = [self._text, self._found.entries, table, sums]
        totals = self._found.totals
        args += [self._sizes, left, marks, totals, ahead, task] if writes else [self._sizes, marks, totals, task]
        launcher.launch(CONVERT_ROWS if writes else MEASURE_ROWS, Shape(defines, tiles, threads, shared), args)
        return marks
