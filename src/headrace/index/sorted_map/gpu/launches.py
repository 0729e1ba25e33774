"""Launches the kernels of sorted maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.kernel import LaunchMode
from headrace.gpu.kernels.launcher import DeviceBuffer, Entry, Launcher, Shape
from headrace.index.sorted_map.gpu.tuning import CODE_TYPES, MERGE, THREADS, TURNS, MergeTuning

_FOLDER = "index/sorted_map/gpu/"
_LEVELS = layout("MapLevels").argument
_LEVEL = layout("MapLevel").argument
_CUTS = layout("CutTask").argument
_CUT_TASK = layout("CutTask").packer()
_OPTIONS = layout("NeighbourOptions").argument
_WARP = 32
_FILES = {
    "reverse_batch": "batch",
    "mark_deleted": "batch",
    "keys_of_codes": "batch",
    "write_fences": "guide",
    "write_filter": "guide",
    "write_guide": "guide",
    "rank_samples": "merge",
    "cut_levels": "merge",
    "merge_tiles": "merge",
    "merge_visible": "merge",
    "find_keys": "find",
    "find_neighbours": "find",
    "count_ranges": "ranges",
    "copy_ranges": "ranges",
    "gather_ranges": "ranges",
    "copy_gathered": "ranges",
    "begin_ranges": "ranges",
    "copy_clean_ranges": "ranges",
}
_EARLY = {"reverse_batch", "rank_samples", "cut_levels", "merge_tiles", "merge_visible", "find_keys"}
"""Kernels that begin before the preceding launch has ended, and wait for it."""
_SIGNATURES = {
    "reverse_batch": "PQ{rule}PPIPPPI",
    "mark_deleted": "PQPP",
    "keys_of_codes": "PQ{rule}P",
    "write_fences": "{level}QP",
    "write_filter": "{level}",
    "write_guide": "{levels}QPP",
    "rank_samples": "{levels}{cuts}P",
    "cut_levels": "{levels}{cuts}PP",
    "merge_tiles": "{levels}PPPP",
    "merge_visible": "{levels}PIPPPP",
    "find_keys": "{levels}PQ{rule}PP",
    "find_neighbours": "{levels}PQ{rule}{options}PPP",
    "count_ranges": "{levels}PPQ{rule}QPP",
    "copy_ranges": "{levels}PPQ{rule}PPP",
    "gather_ranges": "{levels}PPQ{rule}QPPP",
    "copy_gathered": "QPPPIPP",
    "begin_ranges": "{levels}PQ{rule}P",
    "copy_clean_ranges": "{levels}Q{rule}PQPPP",
}


@dataclass(frozen=True, slots=True)
class MergeTarget:
    """A level that a merge writes: codes, values and tombstones, of which the last two may be None."""

    codes: Any
    values: Any
    tombstones: Any


class MapKernels:
    """Launches kernels for codes of one width. Tests pass fewer threads, and smaller sizes of merges."""

    def __init__(self, launcher: Launcher, code_width: int, *, threads: int = THREADS, merge: MergeTuning = MERGE) -> None:
        self._launcher = launcher
        self._width = code_width
        self._threads = threads
        self._merge = merge

    def launch(self, name: str, count: int, args: Sequence[Any]) -> None:
        """Launch a kernel whose items are independent, for `count` items; `args`: its parameters."""
        if count:
            blocks = -(-count // (self._threads * TURNS.get(_FILES[name], 1)))
            self._launcher.launch(_entry(name, self._width), Shape(self._defines(name), blocks, self._threads), args)

    def merge(self, levels: bytes, counts: Sequence[int], target: MergeTarget) -> None:
        """Merge levels into one.

        `levels`: bytes of ``MapLevels``, with 1 to 32 levels.
        `target`: the level that is written.
        """
        cuts, tiles = self._cut(levels, counts)
        args = (levels, cuts, target.codes, target.values, target.tombstones)
        self._launcher.launch(_entry("merge_tiles", self._width), self._merge_shape(tiles), args)

    def merge_visible(self, levels: bytes, counts: Sequence[int], target: MergeTarget) -> DeviceBuffer:
        """Merge levels as `merge` does, into a clean level without tombstones. Return its number of pairs, 8 bytes."""
        launcher = self._launcher
        cuts, tiles = self._cut(levels, counts)
        states, found = launcher.allocate(8 * (tiles + 1), fill=0), launcher.allocate(8)
        args = (levels, cuts, tiles, states, target.codes, target.values, found)
        launcher.launch(_entry("merge_visible", self._width), self._merge_shape(tiles), args)
        return found

    def _cut(self, levels: bytes, counts: Sequence[int]) -> tuple[DeviceBuffer, int]:
        """Return the begins of the tiles of a merge in each level, and the number of tiles."""
        width, tuning, launcher = self._width, self._merge, self._launcher
        items = sum(counts)
        tiles = -(-items // (tuning.threads * tuning.items))
        task = _CUT_TASK.pack(items, tiles + 1, tuning.stride)
        samples = sample_count(counts, tuning.stride)
        places, cuts = launcher.allocate(samples * 8), launcher.allocate((tiles + 1) * len(counts) * 8)
        shape = Shape(_merge_defines(width, tuning), -(-samples // _WARP), _WARP * len(counts))
        launcher.launch(_entry("rank_samples", width), shape, (levels, task, places))
        shape = self._merge_shape(-(-(tiles + 1) // (tuning.threads // _WARP)))
        launcher.launch(_entry("cut_levels", width), shape, (levels, task, places, cuts))
        return cuts, tiles

    def _merge_shape(self, blocks: int) -> Shape:
        return Shape(_merge_defines(self._width, self._merge), blocks, self._merge.threads)

    def write_guide(self, levels: bytes, counts: Sequence[int], stride: int, guide: tuple[DeviceBuffer, DeviceBuffer]) -> None:
        """Write codes and positions of a guide (level.hpp) of 2 to 32 levels; its fences are written by ``write_fences``."""
        blocks = -(-sample_count(counts, stride) // _WARP)
        shape = Shape(self._defines("write_guide"), blocks, _WARP * len(counts))
        self._launcher.launch(_entry("write_guide", self._width), shape, (levels, stride, *guide))

    def _defines(self, name: str) -> dict[str, Any]:
        return _known_defines(self._width, self._threads, TURNS.get(_FILES[name]))


def sample_count(counts: Sequence[int], stride: int) -> int:
    """Return the number of samples of levels.

    >>> sample_count([1, 64, 65], 64)
    4
    """
    return sum(-(-count // stride) for count in counts)


@cache
def _entry(name: str, width: int) -> Entry:
    sizes = {"rule": f"{4 * width}s", "level": _LEVEL, "levels": _LEVELS, "cuts": _CUTS, "options": _OPTIONS}
    mode = LaunchMode.EARLY if name in _EARLY else LaunchMode.ORDERED
    return Entry(f"{_FOLDER}{_FILES[name]}.cu", name, _SIGNATURES[name].format(**sizes), mode)


@cache
def _known_defines(width: int, threads: int, turns: int | None) -> dict[str, Any]:
    return {"HR_CODE": CODE_TYPES[width], "HR_THREADS": threads} | ({} if turns is None else {"HR_TURNS": turns})


@cache
def _merge_defines(width: int, tuning: MergeTuning) -> dict[str, Any]:
    return {"HR_CODE": CODE_TYPES[width], "HR_THREADS": tuning.threads, "HR_ITEMS": tuning.items}
