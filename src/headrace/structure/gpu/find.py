"""Finds the records and fields of a text on a GPU: the automaton's state and the counts before each tile.

Three variants can read a text, each slower and more general than the one before:

=============  ==============================================  =======================================
variant        reads                                           kernels
=============  ==============================================  =======================================
``"unquoted"``     plain dialects, text without quotes             summarize_plain.cu, scan_summaries.cu
``"quoted"``   plain dialects                                  the same, two summaries a tile
``"dfa"``    every dialect, by its automaton                 summarize_dfa.cu, scan_summaries.cu
=============  ==============================================  =======================================

All variants that a dialect may need are enqueued at once. One that finds a byte that it cannot read sets `FindFlag.REDO`; the
kernels of the next variant return at once unless that flag is set. So the bytes decide, and the host does not wait.

The variant ``"quoted"`` assumes that every quote opens or closes a field, and sets `FindFlag.STRAY` at one that cannot. With
lenient quotes, that also sets `FindFlag.REDO`, and opening_quotes.cu finds the quotes that open a field. With strict ones such
texts are rare, so no further variant is enqueued: the caller searches again with ``only_dfa`` (`TileStructure.misread`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.gpu.kernels.launcher import BufferGroup, DeviceBuffer, Launcher
from headrace.gpu.kernels.trace import Recorder, Recording
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import (
    FIND_TOTALS,
    TOTALS,
    FindFlag,
    Plain,
    known_dfa_tables,
    lenient_dialect,
    plain_dialect,
)
from headrace.structure.gpu.launches import (
    NO_EXTRA,
    TOTALS_BYTES,
    BufferSizes,
    DfaOutput,
    FusedSummary,
    Search,
    SearchPlan,
    SearchTuning,
    Variants,
)

_COUNTS = TOTALS.names or ()
_FLAGS = _COUNTS.index("flags")
_UNPACKED = FIND_TOTALS.packer()  # the layout of TOTALS; unpacking it takes a third of the time that NumPy takes
_REDO = int(FindFlag.REDO)


@dataclass(frozen=True, slots=True)
class TileStructure:
    """Result of a search: the start of each tile, in buffers that are valid once the kernels have run."""

    totals: DeviceBuffer  # MAX_VARIANTS items of TOTALS, one a variant, then zeros. The first without `FindFlag.REDO` is valid.
    entries: DeviceBuffer  # one TILE_START a tile, and one for the text's end
    variants: tuple[str, ...]  # the variants that were enqueued, in order: ``"unquoted"``, ``"quoted"``, ``"dfa"``
    tiles: int  # number of tiles
    dfa: DfaOutput | None  # output of the variant ``"dfa"``, if it was enqueued; valid only if that variant read the text
    extra: Sequence[DeviceBuffer] = ()  # the buffers that the caller asked for
    measured_strings: bool = False  # True if the first variant ran as the caller's `FusedSummary`

    def answer(self, totals: NDArray[np.uint8]) -> tuple[dict[str, int], str]:
        """Return the totals, from the bytes of `totals`, and the variant that read the text."""
        for number, variant in enumerate(self.variants):
            counts = _UNPACKED.unpack_from(totals, number * TOTALS_BYTES)
            if not counts[_FLAGS] & _REDO:
                return dict(zip(_COUNTS, counts, strict=True)), variant
        raise AssertionError("the last variant reads every text")

    @staticmethod
    def misread(counts: dict[str, int], variant: str) -> bool:
        """Return whether masks may have misread the text's quotes, from an `answer`; then the automaton has to read it."""
        return variant == "quoted" and bool(counts["flags"] & FindFlag.STRAY)


def tile_count(text: DeviceBuffer, tuning: SearchTuning) -> int:
    """Return the number of tiles. Tiles are aligned to 16 bytes in memory, so the first may begin before the text."""
    return -(-(text.nbytes + text.address % 16) // tuning.tile) if text.nbytes else 0


def needs_dfa(dialect: Dialect, text: bytes) -> bool:
    """Return whether these bytes of a text rule out all variants but ``"dfa"``: one of them begins an escape or a comment."""
    return any(special is not None and special[:1] in text for special in (dialect.escape_char, dialect.comment))


def find_tiles(
    launcher: Launcher,
    text: DeviceBuffer,
    dialect: Dialect,
    tuning: SearchTuning,
    extra: BufferSizes = NO_EXTRA,
    *,
    has_quotes: bool = False,
    fused: FusedSummary | None = None,
) -> TileStructure:
    """Enqueue the search for the structure of a text, without waiting for it.

    `extra`: sizes of buffers to allocate together with the search's own.
    `has_quotes`: whether the text is expected to have quotes.
    `fused`: kernel that replaces the first variant, if that is the variant it is made for.
    Result: the buffers, to be filled by the kernels.
    """
    tiles = tile_count(text, tuning)
    plan = search_plan(dialect, tuning, fused if tiles else None, has_quotes=has_quotes)
    zeroed, others = extra
    recorded = recorded_search(plan, (len(zeroed), len(others))) if tiles else None  # without tiles there is little to launch
    if recorded is None:
        return _launched(launcher, text, plan, tiles, extra)
    recording, result = recorded
    buffers = launcher.replay(recording, (text.nbytes, tiles, *zeroed, *others), (text,))
    assert buffers is not None
    return result.run(buffers, tiles)


def search_plan(dialect: Dialect, tuning: SearchTuning, fused: FusedSummary | None, *, has_quotes: bool) -> SearchPlan:
    """Return the launches of a search; parameters as for `find_tiles`."""
    key = tuning.only_dfa, has_quotes
    variants = _variant_cache.get_or_create(lambda: _variants(dialect, *key), dialect, key=key)
    return SearchPlan(dialect, variants, tuning, fused)


def first_variant(plan: SearchPlan, tables_begin: int) -> SearchPlan:
    """Return the search by the first variant alone, for a caller that gives up if another one has to read the text.

    `tables_begin`: see `SearchPlan.tables_begin`.
    """
    first = _variant_cache.get_or_create(lambda: plan.variants[:1], plan.variants)
    return SearchPlan(plan.dialect, first, plan.tuning, plan.fused, tables_begin)


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """Output of a recorded search: the numbers of its buffers, and the values that do not depend on the text.

    `roles`: those of `DfaOutput`; None if byte masks read the text.
    """

    totals: int
    entries: int
    extra: tuple[int, ...]
    roles: int | None
    variants: tuple[str, ...]
    measured_strings: bool

    def first_answer(self, totals: bytes) -> dict[str, int] | None:
        """Return the totals of the first variant, from the bytes of `totals`; None if it could not read the text."""
        counts = _UNPACKED.unpack_from(totals)
        if counts[_FLAGS] & (_REDO | (FindFlag.STRAY if self.variants[0] == "quoted" else 0)):
            return None
        return dict(zip(_COUNTS, counts, strict=True))

    def is_stray(self, counts: Mapping[str, int]) -> bool:
        """Return whether byte masks cannot read a text with these counts, which the automaton has read."""
        return self.variants[0] == "dfa" and bool(counts["flags"] & FindFlag.STRAY)

    def run(self, buffers: BufferGroup, tiles: int) -> TileStructure:
        """Return the result of a replay for a text of `tiles` tiles."""
        extra = [buffers[number] for number in self.extra]
        return _structure(buffers[self.totals], buffers[self.entries], self.variants, tiles, None, extra, self.measured_strings)


def recorded_search(plan: SearchPlan, counts: tuple[int, int]) -> tuple[Recording, RecordedSearch] | None:
    """Return the launches of a search, recorded for all texts, and their output; None if they copy tables.

    `counts`: numbers of the caller's buffers that begin as zeros, and of the others.
    """
    if plan.variants[-1][0] == "dfa" and plan.tables_begin is None:
        return None
    objects = plan.dialect, plan.variants, plan.tuning, plan.fused
    return _searches.get_or_create(lambda: _recorded(plan, *counts), *objects, key=(*counts, plan.tables_begin))


_searches: IdentityCache[tuple[Recording, RecordedSearch]] = IdentityCache()


def _recorded(plan: SearchPlan, zeroed: int, others: int) -> tuple[Recording, RecordedSearch]:
    """Record a search with symbols for the text's bytes, its tiles, and the sizes of the caller's buffers.

    `zeroed`, `others`: how many buffers of `BufferSizes` the caller asks for.
    """
    recorder = Recorder(2 + zeroed + others, 1)
    nbytes, tiles, *sizes = recorder.numbers
    text: Any = recorder.given[0].of_size(nbytes)
    extra: Any = sizes[:zeroed], sizes[zeroed:]
    structure: Any = _launched(recorder, text, plan, tiles, extra)
    recording = recorder.done()
    roles = None if structure.dfa is None else structure.dfa.roles
    numbers: Any = [recorder.number_made(buffer) for buffer in (structure.totals, structure.entries, roles, *structure.extra)]
    totals, entries, roles, *extra = numbers
    result = RecordedSearch(totals, entries, tuple(extra), roles, structure.variants, structure.measured_strings)
    return recording, result


def _launched(launcher: Any, text: DeviceBuffer, plan: SearchPlan, tiles: Any, extra: BufferSizes) -> TileStructure:
    """Enqueue the variants; in a recording, sizes and the number of tiles are symbols."""
    search, lenient = Search(launcher, text, plan, tiles, extra), plan.dialect.looks_ahead
    with launcher.together():
        for variant, tables in plan.variants:
            if variant == "dfa" and lenient:
                search.mark_quotes(lenient_dialect(plan.dialect))
            search.launch(variant, tables, lenient=lenient)
    names = tuple([variant for variant, _ in plan.variants])
    return _structure(search.totals, search.entries, names, tiles, search.dfa, search.extra, search.fused is not None)


_structure = fast_constructor(TileStructure)


def _variants(dialect: Dialect, only_dfa: bool, has_quotes: bool) -> Variants:
    """Return the variants to enqueue, in order, each with its tables. The last one reads every text of the dialect."""
    dfa = known_dfa_tables(dialect)
    if only_dfa:
        return [("dfa", dfa)]
    unquoted, quoted = plain_dialect(dialect, quoted=False), plain_dialect(dialect, quoted=True)
    variants: Variants = [] if unquoted is None or (has_quotes and dialect.quote_char) else [("unquoted", unquoted.tobytes())]
    if unquoted is not None and not unquoted["flags"] & Plain.WATCHES:
        return variants
    if quoted is not None:
        variants.append(("quoted", quoted.tobytes()))
        if not dialect.looks_ahead:
            return variants
    return [*variants, ("dfa", dfa)]


_variant_cache: IdentityCache[Variants] = IdentityCache()
