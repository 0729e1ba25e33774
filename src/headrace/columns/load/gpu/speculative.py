"""Describes a searched text, and the conversion that is launched for it before the host knows its counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headrace.columns.convert.gpu.column_group import ColumnGroup
from headrace.columns.convert.gpu.fast.launches import MeasuredStrings, halves_of
from headrace.columns.convert.gpu.row_columns import RowColumns
from headrace.columns.convert.gpu.target import GpuTarget
from headrace.columns.load.gpu.arguments import ArgumentTemplate
from headrace.columns.load.gpu.result_layout import ResultLayout, results_bytes
from headrace.columns.load.gpu.text_form import TextForm
from headrace.gpu.kernels.launcher import BufferSlice, DeviceBuffer
from headrace.gpu.kernels.trace import Recording
from headrace.structure.gpu.find import TileStructure
from headrace.structure.gpu.launches import VARIANTS_BYTES


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A text whose search is launched, and the buffers that were allocated with it."""

    structure: TileStructure  # the tiles of the text
    strings: MeasuredStrings
    """String sizes measured by the search. If the search did not measure them, `sums` is uninitialised; the measuring kernel
    writes every element.
    """
    marks: DeviceBuffer  # zeroed words of the tiles for `RowLaunches`
    arguments: DeviceBuffer
    faults: DeviceBuffer  # buffers of the first conversion: arguments of its kernels, and its list of faults
    layout: ResultLayout  # Offsets of the results. They are followed by zeros that the first `scan_string_sizes` needs.
    form: TextForm  # the expected form of the text
    has_sums: bool  # True if the sums have room for all columns of strings

    def string_bytes(self, group: ColumnGroup) -> DeviceBuffer:
        """Return the words that receive the bytes of each column of strings in the first conversion."""
        return BufferSlice(self.structure.totals, VARIANTS_BYTES, group.strings * 8)

    def results(self, group: ColumnGroup) -> DeviceBuffer:
        """Return the buffer for the results of the first conversion."""
        return BufferSlice(self.structure.totals, self.layout.results, results_bytes(len(group.columns), group.infers))


class ConversionPath(Enum):
    """The conversions that are launched before the host knows of declined tiles."""

    LISTED = "listed"  # that by a list of fields: many columns, all strings
    FAST = "fast"  # The fast one alone. If it declines tiles, the general one is launched after the wait.
    BOTH = "both"  # the fast one, then the general one for tiles that it declines, since it declined some of the last text
    GENERAL = "general"  # the general one for all tiles: the fast one cannot read the columns

    @classmethod
    def of(cls, columns: RowColumns | None, *, lists: bool, expects_declined: bool) -> ConversionPath:
        """Return those of a group, whose `columns` the fast conversion reads; `lists`: the fields are listed."""
        if lists:
            return cls.LISTED
        if columns is None:
            return cls.GENERAL
        return cls.BOTH if expects_declined else cls.FAST


@dataclass(frozen=True, slots=True)
class SpeculativeConversion:
    """A conversion that is launched with estimated sizes, recorded so that it can be replayed for any text."""

    arguments: ArgumentTemplate  # the arguments of the kernels
    path: ConversionPath
    recording: Recording | None = None  # the launches; None if they cannot be recorded
    sums: int | None = None
    sizes: int | None = None
    """Numbers of the buffers, among those that the recording allocates, that `MeasuredStrings` refers to; None if the buffer was
    allocated with the search.
    """
    measures_fast: bool = False  # True if the fast kernel measures strings

    def replay(self, target: GpuTarget, searched: SearchedText, rows: int) -> MeasuredStrings:
        """Replay the launches for a text; `rows`: its estimated rows."""
        assert self.recording is not None
        structure, strings = searched.structure, searched.strings
        buffers = [target.text, structure.totals, structure.entries, strings.sums, strings.sizes, searched.marks]
        roles = None if structure.dfa is None else structure.dfa.roles
        numbers = target.text.nbytes, structure.tiles, rows
        result = target.launcher.replay(self.recording, numbers, [*buffers, searched.arguments, searched.faults, roles])
        sums = strings.sums if result is None or self.sums is None else result[self.sums]
        sizes = strings.sizes if result is None or self.sizes is None else result[self.sizes]
        return MeasuredStrings(sums, sizes, halves_of(searched.marks, structure.tiles)[1] if self.measures_fast else None)

    def declined(self, searched: SearchedText) -> DeviceBuffer | None:
        """Return the marks of declined tiles if the launches leave out the general conversion, else None."""
        return searched.marks if self.path is ConversionPath.FAST else None
