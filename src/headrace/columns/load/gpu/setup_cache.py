"""What of loads on a GPU no text changes: made once, kept for the next (docs/decisions/0017-a-small-read.md)."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.columns.buffers.load_result import Evidence
from headrace.columns.convert.gpu.column_group import GIVEN, PlanOnGpu
from headrace.columns.convert.gpu.fast.launches import measuring
from headrace.columns.convert.gpu.string_offsets import place_memory_bytes
from headrace.columns.convert.gpu.target import GpuShape
from headrace.columns.faults.gpu.fault_list import first_faults_bytes
from headrace.columns.load.gpu.arguments import told_bytes
from headrace.columns.load.gpu.launches import Ahead, BehindTotals
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_dialect import native_dialect
from headrace.core.identity_cache import Recent
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.launches import FORMS_BYTES, TallyAndMore

_MOST_AHEAD = 16
_LITTLE, _ANY = 1 << 20, 2**63


class KeptLoad:
    """What of a load no text changes: of a plan, a dialect and a shape; `faults`: bytes of a first list of them."""

    def __init__(self, known: PlanOnGpu, dialect: Dialect, plan: LoadPlan, shape: GpuShape, faults: int) -> None:
        wanted, infers = known.wanted, bool(known.inferred)
        self.native = native_dialect(dialect)
        self.collects = plan.rows.collect_long and len(plan.columns) - 1 in wanted
        self.positions = wanted[:-1] if self.collects else wanted
        count = len(self.positions)
        self.behind = BehindTotals(count, infers)
        self.given = None if infers else known.group(self.positions, bytes([GIVEN]) * count)
        """All columns, where all types are given."""
        measured = self.given if shape.ahead else None
        self._tallies = [None if measured is None else measuring(shape, measured, quoted=quoted) for quoted in (False, True)]
        self.no_evidence: Sequence[Evidence | None] = (None,) * len(plan.columns)
        self.aheads: Recent[Ahead] = Recent(_MOST_AHEAD)
        """What is launched behind a search, of columns and how that reads the text."""
        # Columns of guessed types are not known yet: of a short text all may be strings, of others their sums are made later.
        self._strings = count if infers else known.given_strings
        self._most_tiles = _LITTLE // 8 // max(count, 1) if infers else _ANY
        self._others = told_bytes(known, count), faults

    def has_sums(self, tiles: int) -> bool:
        """Whether the bytes of strings of each tile have their room with the search's."""
        return tiles <= self._most_tiles

    def tally(self, *, quoted: bool) -> TallyAndMore | None:
        """What measures strings while it searches, where all types are given, of a text taken to have quotes or not."""
        return self._tallies[quoted]

    def rooms(self, tiles: int, tally: TallyAndMore | None) -> tuple[Sequence[int], Sequence[int]]:
        """What a first conversion of so many tiles needs beside its result: cleared, and as it is. Each column may turn out to be
        of strings.
        """
        strings = self._strings if self.has_sums(tiles) else 0
        behind = self.behind.end - FORMS_BYTES + place_memory_bytes(tiles, len(self.positions))
        others = self._others if tally is None else (*self._others, tiles * tally.room)
        return (behind, 8 * tiles), (tiles * strings * 8, *others)


_kept: Recent[KeptLoad] = Recent()


def kept_for(known: PlanOnGpu, dialect: Dialect, plan: LoadPlan, shape: GpuShape) -> KeptLoad:
    """That of a plan, which `known` is made of."""
    faults = first_faults_bytes()
    return _kept.of(lambda: KeptLoad(known, dialect, plan, shape, faults), known, dialect, shape, key=faults)
