"""Launches of columns/convert_rows.cu in a load: which of its forms reads a text, and what it is told."""

from __future__ import annotations

from headrace.columns.place_gpu import Place
from headrace.columns.plan_gpu import Group
from headrace.columns.rows_gpu import CONVERT_ROWS, MEASURE_ROWS, RowColumns, RowsFlag, row_program
from headrace.core.launcher import Part, Room, Shape
from headrace.structure.dialect import Dialect
from headrace.structure.find_gpu import TileStructure
from headrace.structure.gpu_tables import plain_dialect

SAMPLED_BYTES = 4096
"""Of the text's beginning, by which is guessed whether its fields have quotes."""


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
    beginning
        Of the text.
    """

    def __init__(self, place: Place, dialect: Dialect, found: TileStructure, marks: Room, beginning: bytes) -> None:
        self._launcher, self._text, self._found = place.launcher, place.text, found
        self._marks = [Part(marks, begin, found.tiles * 4) for begin in (0, found.tiles * 4)]
        quote = dialect.quote
        masks = plain_dialect(dialect, quoted=quote is not None)
        self._masks = None if masks is None else masks.tobytes()
        self._flags = RowsFlag.QUOTED * (quote is not None) + RowsFlag.FORMS * (found.forms[1:2] == ("quoted",))
        quoted = quote is not None and quote in beginning
        self._shape = place.shape.quoted_rows if quoted else place.shape.rows

    def columns(self, group: Group, *, writes: bool) -> RowColumns | None:
        """The group as rows are read; None if this kernel cannot read it."""
        return None if self._masks is None else group.by_rows(quotes=self._shape.quotes, measures=not writes)

    def launch(self, columns: RowColumns, table: Room, sums: Room | None, *, ascii_only: bool, writes: bool) -> Room:
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

        Returns
        -------
        Room
            A word for each tile, which is not 0 if it is left.
        """
        assert self._masks is not None
        launcher, tiles = self._launcher, self._found.tiles
        marks: Room = self._marks.pop() if self._marks else launcher.room(tiles * 4, fill=0)
        flags = self._flags + RowsFlag.ASCII * ascii_only
        task = columns.task(self._masks, self._text.nbytes, tiles, flags)
        defines, threads, shared = row_program(self._shape, columns.strings, writes)
        args = [self._text, self._found.entries, table, sums, marks, self._found.totals, task]
        launcher.launch(CONVERT_ROWS if writes else MEASURE_ROWS, Shape(defines, tiles, threads, shared), args)
        return marks
