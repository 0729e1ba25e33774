"""Describes where a load on a GPU runs, and the launch configurations of its kernels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache

from headrace.columns.convert.gpu.tuning import ALL_FAMILIES, LANES_BIT, LISTS_BIT, ConvertTuning, Program, RowTuning
from headrace.gpu.kernels.launcher import DeviceBuffer, Launcher
from headrace.structure.gpu.launches import SearchTuning

_MANY_COLUMNS = 48  # of a wide tile: `declined_columns` of wide_tiles.cuh
_FEW_ROWS = 32  # of a wide tile: `few_rows` of wide_tiles.cuh
_WIDE_RECORD = 64  # Fields of a record from which on `GpuTuning.wide_rows` is chosen. Such a record has as many bytes at least.


@dataclass(frozen=True, slots=True, kw_only=True)
class WideTuning:
    """Launch configuration of the general conversion for long records of many columns.

    A larger tile has more rows. So a thread, which converts a column, stores more adjacent values.
    """

    span: int = 3  # tiles of the search in a tile
    threads: int = 512
    window: int = 8704
    blocks: int = 2  # sizes of the blocks (`ConvertTuning`)
    min_tiles: int = 1024
    """Tiles of the search from which on a text is converted so. Fewer large tiles would leave multiprocessors idle."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GpuTuning:
    """Launch configurations of the search and the conversion. All tiles have the search's size."""

    find: SearchTuning = field(default_factory=SearchTuning)
    threads: int = 256
    window: int = 4096
    blocks: int = 4  # the general conversion, as in `ConvertTuning`
    rows: RowTuning = field(default_factory=lambda: RowTuning(record_bytes=4))
    numbers_rows: RowTuning = field(default_factory=lambda: RowTuning(threads=128, records=2, blocks=8))
    number_rows: RowTuning = field(default_factory=lambda: RowTuning(threads=128, records=2, record_bytes=2, blocks=6))
    wide_rows: RowTuning = field(default_factory=lambda: RowTuning(threads=64, record_bytes=64, blocks=10))
    quoted_rows: RowTuning = field(default_factory=lambda: RowTuning(quotes=True, threads=160, head=2048, blocks=7))
    dfa_rows: RowTuning = field(default_factory=lambda: RowTuning(quotes=True, dfa=True, head=1024))
    """The fast conversion: with strings, without strings, of a single column without strings, of many columns without strings,
    with quotes, and by the DFA.
    """
    wide: WideTuning = WideTuning()
    """The general conversion of texts with long records of many columns, without quotes. With them the window is half as large.
    """
    speculative: bool = True  # True if the conversion is launched before the rows are counted, into buffers of estimated size
    min_sampled_first: int = 64 << 20
    """Bytes of data from which on inferred types are sampled before the search, so that the search measures strings too. The GPU
    waits for the sample. For less data, that takes longer than a further kernel that measures strings.
    """

    def __post_init__(self) -> None:
        rows = self.rows, self.numbers_rows, self.number_rows, self.wide_rows, self.quoted_rows, self.dfa_rows
        assert {one.tile for one in rows} == {self.find.tile}  # the conversion reads the search's tiles

    def of_rows(self, variant: str, *, strings: bool, width: int = 2) -> RowTuning:
        """Return the fast conversion's configuration for texts that a search variant reads; `width`: fields of a record.

        Without strings, records are short and no thread waits for string offsets. Then a thread converts two records, each of
        which hides the other's memory latency. Records of a single number may have two bytes. A tile has few records of many
        fields, so a block has few threads.
        """
        if variant == "dfa":
            return self.dfa_rows
        if variant == "quoted" or strings:
            return self.quoted_rows if variant == "quoted" else self.rows
        if width >= _WIDE_RECORD:
            return self.wide_rows
        return self.number_rows if width == 1 else self.numbers_rows

    def is_wide(self, prefix: bytes, line_end: bytes | None, columns: int, tiles: int) -> bool:
        """Return whether tiles are expected to have few rows of many columns, so that the fast conversion would decline them.

        `prefix`: the first bytes of the records.
        `line_end`: the dialect's line end; None for LF, CR LF and CR.
        """
        if columns < _MANY_COLUMNS or tiles < self.wide.min_tiles:
            return False
        return prefix.count(line_end or b"\n") * self.find.tile <= _FEW_ROWS * len(prefix)

    @staticmethod
    def is_sparse(prefix: bytes, separator: bytes, columns: int) -> bool:
        """Return whether fields of many columns have less than half a byte on average; parameters as of `is_wide`."""
        return columns >= _WIDE_RECORD and 3 * prefix.count(separator) > 2 * len(prefix)

    def convert(self, variant: str, *, is_wide: bool = False) -> ConvertTuning:
        """Return the general conversion's configuration for a text that this search variant read.

        `is_wide`: most tiles have few rows of many columns (`is_wide`), and the fast conversion is not launched.
        """
        quotes, dfa = variant != "unquoted", variant == "dfa"
        if not is_wide or dfa:
            sizes = {"threads": self.threads, "tile": self.find.tile, "window": self.window, "blocks": self.blocks}
            return ConvertTuning(quotes=quotes, dfa=dfa, **sizes)
        wide, window = self.wide, self.wide.window // (2 if quotes else 1)
        sizes = {"threads": wide.threads, "tile": wide.span * self.find.tile, "window": window, "blocks": wide.blocks}
        return ConvertTuning(quotes=quotes, dfa=False, span=wide.span, **sizes)


class TileWork(Enum):
    """A kernel of general/convert.cu: ``convert_tiles``, ``measure_strings`` or ``list_fields``."""

    CONVERT = 0
    MEASURE = 1
    LIST = 2


@cache
def convert_program(tuning: GpuTuning, variant: str, work: TileWork, families: int, *, is_wide: bool = False) -> Program:
    """Return the program of a kernel of general/convert.cu for columns of these families.

    `variant`: the search variant that read the text. `is_wide`: as for `GpuTuning.convert`.
    """
    configuration = tuning.convert(variant, is_wide=is_wide)
    if work is TileWork.LIST:
        families = 1 << LISTS_BIT
    elif work is TileWork.MEASURE:  # one program for all families
        families |= ALL_FAMILIES & ~(1 << LISTS_BIT | 1 << LANES_BIT)
    defines = configuration.defines(writes=work is TileWork.CONVERT, families=families)
    return defines, configuration.threads, configuration.shared_bytes


@cache
def with_dfa(tuning: GpuTuning) -> GpuTuning:
    """Return the same configuration with the DFA search for every text."""
    return replace(tuning, find=replace(tuning.find, only_dfa=True))


DEFAULT_TUNING = GpuTuning()  # The default configuration. Caches are keyed by its identity, so callers share this object.


@dataclass(frozen=True, slots=True)
class GpuTarget:
    """The target of a load: launcher, text in device memory, launch configurations, and the device's name."""

    launcher: Launcher
    text: DeviceBuffer
    tuning: GpuTuning = DEFAULT_TUNING
    device: str = "cpu"
