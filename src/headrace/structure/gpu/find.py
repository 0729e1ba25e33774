"""Finds the records and fields of a text on a GPU: the automaton's state and the counts before each tile.

Three variants can read a text, each slower and more general than the one before:

=============  ==============================================  =======================================
variant        reads                                           kernels
=============  ==============================================  =======================================
``"bare"``     plain dialects, text without quotes             summarize_plain.cu, scan_summaries.cu
``"quoted"``   plain dialects                                  the same, two summaries a tile
``"steps"``    every dialect, by its automaton                 summarize_dfa.cu, scan_summaries.cu
=============  ==============================================  =======================================

All variants that a dialect may need are enqueued at once. One that finds a byte that it cannot read sets `Found.REDO`; the
kernels of the next variant return at once unless that flag is set. So the bytes decide, and the host does not wait.

The variant ``"quoted"`` assumes that every quote opens or closes a field, and sets `Found.STRAY` at one that cannot. With lenient
quotes, that also sets `Found.REDO`, and lenient_quotes.cu finds the quotes that open a field. With strict ones such texts are
rare, so no further variant is enqueued: the caller searches again with ``only_dfa`` (`TileStructure.misread`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.core.fast_constructor import fast_constructor
from headrace.core.identity_cache import IdentityCache
from headrace.gpu.kernels.launcher import BufferGroup, DeviceBuffer, Launcher
from headrace.gpu.kernels.trace import Recorder, Recording
from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import TOTALS, Found, Plain, dfa_tables, lenient_dialect, plain_dialect
from headrace.structure.gpu.launches import TOTALS_BYTES, FusedSummary, Search, SearchTuning, Steps

_COUNTS = TOTALS.names or ()
_FLAGS = _COUNTS.index("flags")
_UNPACKED = Struct("=5QII")
"""The layout of TOTALS; unpacking it takes a third of the time that NumPy takes."""
_REDO = int(Found.REDO)
assert _UNPACKED.size == TOTALS_BYTES


@dataclass(frozen=True, slots=True)
class TileStructure:
    """Result of a search: the start of each tile, in buffers that are valid once the kernels have run.

    Parameters
    ----------
    totals
        MAX_FORMS items of TOTALS, one a variant, then zeros. The first without `Found.REDO` is valid.
    entries
        One TILE_START a tile, and one for the text's end.
    forms
        The variants that were enqueued, in order: ``"bare"``, ``"quoted"``, ``"steps"``.
    tiles
        Number of tiles.
    steps
        Output of the variant ``"steps"``, if it was enqueued; valid only if that variant read the text.
    more
        The buffers that the caller asked for.
    measured_strings
        Whether the first variant ran as the caller's `FusedSummary`.
    """

    totals: DeviceBuffer
    entries: DeviceBuffer
    forms: tuple[str, ...]
    tiles: int
    steps: Steps | None
    more: Sequence[DeviceBuffer] = ()
    measured_strings: bool = False

    def answer(self, totals: NDArray[np.uint8]) -> tuple[dict[str, int], str]:
        """Return the totals, from the bytes of `totals`, and the variant that read the text."""
        for number, form in enumerate(self.forms):
            known = _UNPACKED.unpack_from(totals, number * TOTALS_BYTES)
            if not known[_FLAGS] & _REDO:
                return dict(zip(_COUNTS, known, strict=True)), form
        raise AssertionError("the last variant reads every text")

    @staticmethod
    def misread(counts: dict[str, int], form: str) -> bool:
        """Return whether masks may have misread the text's quotes, from an `answer`; then the automaton has to read it."""
        return form == "quoted" and bool(counts["flags"] & Found.STRAY)


def tile_count(text: DeviceBuffer, shape: SearchTuning) -> int:
    """Return the number of tiles. Tiles are aligned to 16 bytes in memory, so the first may begin before the text."""
    return -(-(text.nbytes + text.address % 16) // shape.tile) if text.nbytes else 0


def find_tiles(
    launcher: Launcher,
    text: DeviceBuffer,
    dialect: Dialect,
    shape: SearchTuning,
    more: tuple[Sequence[int], Sequence[int]] = ((0,), ()),
    *,
    has_quotes: bool = False,
    tally: FusedSummary | None = None,
) -> TileStructure:
    """Enqueue the search for the structure of a text, without waiting for it.

    Parameters
    ----------
    launcher
        Launches the kernels.
    text
        The text in that device's memory.
    dialect
        How the text is written.
    shape
        Launch configuration.
    more
        Sizes of buffers to allocate together with the search's own, which is cheaper: (zeroed, others). The first zeroed size is
        appended to the totals, to be fetched with them; the other zeroed sizes and `others` are separate buffers.
    has_quotes
        Whether the text is expected to have quotes.
    tally
        Kernel that replaces the first variant, if that is the variant it is made for.

    Returns
    -------
    TileStructure
        The buffers, to be filled by the kernels.
    """
    tiles = tile_count(text, shape)
    known = shape.only_dfa, has_quotes
    forms = _variant_cache.of(lambda: _variants(dialect, *known), dialect, key=known)
    zeroed, others = more
    if forms[-1][0] == "steps" or not tiles:  # the recording cannot upload tables; without tiles there is little to launch
        return _launched(launcher, text, _SearchPlan(dialect, forms, shape, tally if tiles else None), tiles, more)
    numbers = text.nbytes, tiles, *zeroed, *others
    counts = len(zeroed), len(others)
    way = dialect, forms, shape, tally
    recording, result = _searches.of(lambda: _recorded(_SearchPlan(*way), counts), *way, key=counts)
    buffers = launcher.replay(recording, numbers, (text,))
    assert buffers is not None
    return result.run(buffers, tiles)


@dataclass(frozen=True, slots=True)
class _RecordedSearch:
    """Output of a recorded search: the numbers of its buffers, and the values that do not depend on the text."""

    totals: int
    entries: int
    more: tuple[int, ...]
    forms: tuple[str, ...]
    measured_strings: bool

    def run(self, buffers: BufferGroup, tiles: int) -> TileStructure:
        """Return the result of a replay for a text of `tiles` tiles."""
        more = [buffers[number] for number in self.more]
        return _structure(buffers[self.totals], buffers[self.entries], self.forms, tiles, None, more, self.measured_strings)


_searches: IdentityCache[tuple[Recording, _RecordedSearch]] = IdentityCache()


@dataclass(frozen=True, slots=True)
class _SearchPlan:
    """Everything that selects a search's launches: dialect, variants, launch configuration, and the fused kernel."""

    dialect: Dialect
    forms: _Variants
    shape: SearchTuning
    tally: FusedSummary | None


def _recorded(way: _SearchPlan, counts: tuple[int, int]) -> tuple[Recording, _RecordedSearch]:
    """Record a search with symbols for the text's bytes, its tiles, and the sizes of the caller's `counts` buffers."""
    recorder = Recorder(2 + sum(counts), 1)
    nbytes, tiles, *sizes = recorder.numbers
    text: Any = recorder.given[0].of_size(nbytes)
    more: Any = sizes[: counts[0]], sizes[counts[0] :]
    found: Any = _launched(recorder, text, way, tiles, more)
    recording = recorder.done()
    result: Any = [recorder.number_made(buffer) for buffer in (found.totals, found.entries, *found.more)]
    return recording, _RecordedSearch(result[0], result[1], tuple(result[2:]), found.forms, found.measured_strings)


def _launched(
    launcher: Any, text: DeviceBuffer, way: _SearchPlan, tiles: Any, more: tuple[Sequence[int], Sequence[int]]
) -> TileStructure:
    """Enqueue the variants; in a recording, sizes and the number of tiles are symbols."""
    dialect, forms = way.dialect, way.forms
    search = Search(launcher, text, (way.shape, tiles), [form for form, _ in forms], more)
    if way.tally is not None and forms[0][0] == way.tally.form:
        search.tally = way.tally
    with launcher.together():
        for form, described in forms:
            if form == "steps" and dialect.lenient_quotes:
                search.mark_quotes(lenient_dialect(dialect))
            search.launch(form, described, lenient=dialect.lenient_quotes)
    names = tuple([form for form, _ in forms])
    return _structure(search.totals, search.entries, names, search.tiles, search.steps, search.more, search.tally is not None)


_structure = fast_constructor(TileStructure)
_Variants = list[tuple[str, Any]]


def _variants(dialect: Dialect, only_dfa: bool, has_quotes: bool) -> _Variants:
    """Return the variants to enqueue, in order, each with its tables. The last one reads every text of the dialect."""
    steps = dfa_tables(dialect)
    if only_dfa:
        return [("steps", steps)]
    bare, quoted = plain_dialect(dialect, quoted=False), plain_dialect(dialect, quoted=True)
    forms: _Variants = [] if bare is None or (has_quotes and dialect.quote_char) else [("bare", bare.tobytes())]
    if bare is not None and not bare["flags"] & Plain.WATCHES:
        return forms
    if quoted is not None:
        forms.append(("quoted", quoted.tobytes()))
        if not dialect.lenient_quotes:
            return forms
    return [*forms, ("steps", steps)]


_variant_cache: IdentityCache[_Variants] = IdentityCache()
