"""Caches what a load needs that does not depend on the text (docs/decisions/0017-a-small-read.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.columns.buffers.load_result import Evidence
from headrace.columns.convert.gpu.column_group import GIVEN, ColumnGroup, GpuPlan
from headrace.columns.convert.gpu.fast.launches import measuring
from headrace.columns.convert.gpu.layouts import LISTED_BYTES
from headrace.columns.convert.gpu.string_offsets import scan_memory_bytes
from headrace.columns.convert.gpu.target import GpuTuning
from headrace.columns.faults.gpu.fault_list import first_capacity
from headrace.columns.load.gpu.arguments import argument_bytes
from headrace.columns.load.gpu.estimate import SizeEstimate, SizeHistory, estimate_sizes
from headrace.columns.load.gpu.result_layout import ResultLayout
from headrace.columns.load.gpu.speculative import SpeculativeConversion
from headrace.columns.plan.load_plan import LoadPlan
from headrace.columns.plan.native_dialect import native_dialect
from headrace.core.identity_cache import IdentityCache
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.launches import VARIANTS_BYTES, BufferSizes, FusedSummary

if TYPE_CHECKING:
    from headrace.columns.load.gpu.repeated_load import RepeatedLoad

_MAX_CONVERSIONS = 16
SMALL_BYTES, _NO_LIMIT = 1 << 20, 2**63


class LoadSetup:
    """The state of loads that does not depend on the text.

    `capacity`: faults that the first list holds.
    """

    def __init__(self, gpu_plan: GpuPlan, dialect: Dialect, plan: LoadPlan, tuning: GpuTuning, capacity: int) -> None:
        wanted, infers = gpu_plan.wanted, bool(gpu_plan.inferred)
        self.native = native_dialect(dialect)
        self.collects = plan.rows.collect_long and len(plan.columns) - 1 in wanted
        self.positions = wanted[:-1] if self.collects else wanted
        count = len(self.positions)
        self.layout = ResultLayout(count, infers)
        self.is_prepared = False  # True if the programs of the first conversion are loaded
        self.expects_declined = False
        """True if the fast conversion declined tiles of the last text. Then the general one is launched without waiting."""
        self.expects_faults = False
        """True if the last text had faults. Then the records of the next one's faults are found before the host waits."""
        self.lists_fields = True  # False if the fields of the last text could not be listed
        self.expects_dfa = False
        """True if masks could not read the quotes of the last text. Then the automaton reads the next one at once."""
        self.expects_strings: bool | None = None
        """True if the last text had columns of strings, False if it had none; None before the first text."""
        self.was_mispredicted = False
        """True if the first records of a text predicted its sizes wrongly. Then earlier texts predict those of the next ones."""
        self._history: tuple[ColumnGroup, SizeHistory] | None = None
        self.repeated: dict[bool, RepeatedLoad] = {}
        """Launches of the last text that was loaded in one pass: of texts with quotes (True), and of those without."""
        self.typed_group = None if infers else gpu_plan.group(self.positions, bytes([GIVEN]) * count)
        """The group of all columns, if all types are given."""
        self._tuning = tuning
        self._searches: IdentityCache[FusedSummary | None] = IdentityCache(_MAX_CONVERSIONS)
        self.no_evidence: Sequence[Evidence | None] = (None,) * len(plan.columns)
        self.conversions: IdentityCache[SpeculativeConversion] = IdentityCache(_MAX_CONVERSIONS)
        """Conversions that are launched before the counts are known, by columns and search variants."""
        # Inferred columns may all turn out to be strings, and sums of listed strings are others. For a short text the sums are
        # allocated with the search, for a longer one later.
        self._strings = count if infers else gpu_plan.typed_strings
        may_need_none = infers or (self.typed_group is not None and self.typed_group.is_listable)
        self._max_tiles = SMALL_BYTES // 8 // max(count, 1) if may_need_none else _NO_LIMIT
        self.fault_capacity = capacity
        self._others = argument_bytes(gpu_plan, count), capacity * LISTED_BYTES

    def has_sums(self, tiles: int) -> bool:
        """Return whether the string bytes of each tile are allocated with the search."""
        return tiles <= self._max_tiles

    def measuring_search(self, group: ColumnGroup, *, quoted: bool) -> FusedSummary | None:
        """Return the search that also measures the strings of a group, or None.

        `quoted`: the text is expected to have quotes.
        """
        if not self._tuning.speculative:
            return None
        return self._searches.get_or_create(lambda: measuring(self._tuning, group, quoted=quoted), group, key=quoted)

    def history(self, group: ColumnGroup) -> SizeHistory:
        """Return the sizes of the texts that had a group's columns last."""
        if self._history is None or self._history[0] is not group:
            self._history = group, SizeHistory(group.row_bytes)
        return self._history[1]

    def estimate(self, group: ColumnGroup, prefix: bytes, size: int) -> SizeEstimate | None:
        """Estimate the sizes of a text from its first bytes; from earlier texts if those bytes were misleading before."""
        found = self.history(group).predict(size) if self.was_mispredicted else None
        return found or estimate_sizes(self.native, prefix, size, group.string_positions, group.row_bytes)

    def buffer_sizes(self, tiles: int, search: FusedSummary | None, strings: int) -> BufferSizes:
        """Return the bytes of the buffers that the first conversion of a text needs beside its columns.

        `strings`: columns of strings that the search measures.

        Result: zeroed: results after the search's totals, and marks of tiles. Others: sums of strings, arguments, faults, and
        sizes of strings if the search measures them.
        """
        if search is None:
            strings = self._strings if self.has_sums(tiles) else 0
        results = self.layout.end - VARIANTS_BYTES + scan_memory_bytes(tiles, len(self.positions))
        others = self._others if search is None else (*self._others, tiles * search.buffer)
        return BufferSizes((results, 8 * tiles), (tiles * strings * 8, *others))


known_setups: IdentityCache[LoadSetup] = IdentityCache()


def load_setup(gpu_plan: GpuPlan, dialect: Dialect, plan: LoadPlan, tuning: GpuTuning, nbytes: int) -> LoadSetup:
    """Return the setup of a plan, which `gpu_plan` was made from, for texts of about `nbytes`."""
    capacity = first_capacity(nbytes, gpu_plan.expected_faults)
    return known_setups.get_or_create(
        lambda: LoadSetup(gpu_plan, dialect, plan, tuning, capacity), gpu_plan, dialect, tuning, key=capacity
    )
