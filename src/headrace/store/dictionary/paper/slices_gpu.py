"""Launches slices.cu."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np  # a dependency of cuda-core

from headrace.core.layouts.layout import layout
from headrace.gpu.kernels.launcher import Entry, Launcher, Shape
from headrace.store.dictionary.gpu.launches import DeviceNumbers, MergedDictionary
from headrace.store.dictionary.paper.tuning import SLICES, THREADS, VALUE_TYPES


def merge_slices(
    launcher: Launcher,
    main: DeviceNumbers,
    delta: DeviceNumbers,
    rule: bytes,
    *,
    slices: int = SLICES,
    has_begins: bool = False,
    threads: int = THREADS,
) -> MergedDictionary:
    """Merge two dictionaries of numbers of 4 or 8 bytes in slices. The host adds the counts of the slices, as in the paper.

    `rule`: bytes of their ``KeyRule``.
    `slices`: number of slices, a thread for each.
    `has_begins`: whether a launch before the merge finds the begin of each slice once; otherwise each thread searches two.
    """
    width, values = len(rule) // 4, main.count + delta.count
    pair = layout(f"SlicedPair<u{8 * width}>")
    packed = layout(f"NumberPair<u{8 * width}>").packer().pack(main.values.address, delta.values.address, rule)
    given = pair.packer().pack(packed, main.count, delta.count, slices)
    sections, merged = launcher.allocate(values * width), launcher.allocate(values * width)
    tables = launcher.allocate(4 * main.count), launcher.allocate(4 * delta.count)
    to = layout(f"SliceTarget<u{8 * width}>").packer().pack(sections.address, *(table.address for table in tables))
    defines: dict[str, Any] = {"HR_VALUE": VALUE_TYPES[width], "HR_THREADS": threads}
    shape = Shape(defines, -(-slices // threads), threads)
    begins = None
    if has_begins:
        begins = launcher.allocate(16 * (slices + 1))
        more = Shape(defines, -(-(slices + 1) // threads), threads)
        launcher.launch(_slice_entry("find_slice_begins", width), more, (given, begins))
    counts = launcher.allocate(8 * slices)
    launcher.launch(_slice_entry("merge_slices", width), shape, (given, begins, to, counts))
    ends = np.cumsum(launcher.fetch(counts).view(np.uint64))
    compaction = Shape(defines, slices, threads)
    launcher.launch(_slice_entry("compact_slices", width), compaction, (given, to, launcher.put(ends), merged))
    return MergedDictionary(DeviceNumbers(merged, int(ends[-1])), *tables)


@cache
def _slice_entry(name: str, width: int) -> Entry:
    pair, target = (layout(f"{part}<u{8 * width}>").argument for part in ("SlicedPair", "SliceTarget"))
    signatures: dict[str, str] = {
        "find_slice_begins": f"{pair}P",
        "merge_slices": f"{pair}P{target}P",
        "compact_slices": f"{pair}{target}PP",
    }
    return Entry("store/dictionary/paper/slices.cu", name, signatures[name])
