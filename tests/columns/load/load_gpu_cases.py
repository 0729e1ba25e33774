"""Loads a text by the kernels under the fiber harness, and compares the table with the CPU's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.api.load.reading import load_plan, make_report, prepare, table_columns
from headrace.api.options.csv_options import parse_options
from headrace.api.read.read_csv import read_csv
from headrace.columns.convert.gpu.target import WideTuning
from headrace.columns.convert.gpu.tuning import RowTuning
from headrace.columns.finish.header_faults import with_header_count, with_header_faults
from headrace.columns.load.gpu.decoded import decode_target
from headrace.columns.load.gpu.load import GpuTarget, GpuTuning, load_on_gpu
from headrace.gpu.kernels.launcher import BufferSlice, Entry, Shape
from headrace.sources.encoding.decode_gpu import DecodeShape
from headrace.sources.open import open_source
from headrace.structure.gpu.launches import SearchTuning
from headrace.testing.fibers.launcher import FiberLauncher, HostBuffer
from tests import examples


def shape_of(find: SearchTuning, *, threads: int, window: int, row_threads: int = 32) -> GpuTuning:
    """Small tiles."""
    rows = {"threads": row_threads, "tile": find.tile, "head": 256, "blocks": 1}
    shapes = {
        "rows": RowTuning(record_bytes=4, **rows),
        "numbers_rows": RowTuning(records=2, **rows),
        "number_rows": RowTuning(records=2, record_bytes=2, **rows),
        "wide_rows": RowTuning(record_bytes=64, **rows),
        "quoted_rows": RowTuning(quotes=True, **rows),
        "dfa_rows": RowTuning(quotes=True, dfa=True, **rows),
    }
    wide = WideTuning(threads=threads, window=2 * window, blocks=1, min_tiles=0)
    return GpuTuning(find=find, threads=threads, window=window, wide=wide, **shapes)


SHAPE = shape_of(SearchTuning(threads=32, rows=2, blocks=1, scan_threads=32), threads=32, window=64)
"""Tiles of 1,024 bytes, and blocks of one warp."""
LARGER_SHAPE = shape_of(SearchTuning(threads=64, rows=4, blocks=1, scan_threads=32), threads=64, window=64, row_threads=64)
"""Tiles of 4,096 bytes, and blocks of two warps. Tests share these two, since each other one is a dozen programs to compile."""
OTHER_SHAPE = LARGER_SHAPE if examples.draws_all else SHAPE
"""Shape of most loads that take the larger one in long runs; by default a few tests of rows and of wide tables take it."""


def read_on_fibers(
    data: bytes, *, skew: int = 0, seed: int = 0, far: bool = False, shape: GpuTuning = SHAPE, resident: int = 4, **options: Any
) -> tuple[headrace.Table | None, int]:
    """The table that the kernels make, None where they leave the text to the CPU; and how often the host waited.

    `far`: as if the text were where the kernels run alone, though the host can read it.
    """
    parsed = parse_options({**(read_csv.__kwdefaults__ or {}), **options})
    launcher = FiberLauncher("random", seed, resident)
    with open_source(data, parsed.source) as source:
        prepared = prepare(source, parsed)
        plan = load_plan(source, prepared, parsed)
        text = BufferSlice(launcher.put(np.frombuffer(bytes(skew) + source.native.read(0, source.size), np.uint8)), skew)
        placed, place = replace(source, on_gpu=text) if far else source, GpuTarget(launcher, text, shape)
        if source.codec != "utf-8":
            place, placed, plan = decode_target(place, placed, plan, view_of, DecodeShape(64))
        loaded = load_on_gpu(place, placed, parsed.dialect, plan)
        if loaded is None:
            return None, launcher.waits
        rejects = with_header_faults(loaded.rejects, prepared.beginning, parsed.context)
        loaded = replace(loaded, rejects=rejects, counts=with_header_count(loaded.counts, prepared.beginning))
        report = make_report(source, prepared, loaded, parsed, {})
        columns = table_columns(prepared, loaded, parsed)
        return headrace.Table(columns, rejects=headrace.Table(rejects), report=report), launcher.waits


def view_of(buffer: HostBuffer, head: bytes) -> _native.Source:
    """Return a buffer as a source of the native readers. Its first bytes must be those that the host has decoded."""
    assert buffer.array[: len(head)].tobytes() == head
    return _native.Source.from_bytes(buffer.array)


def check(data: bytes, **options: Any) -> int:
    """Read on both; how often the host waited."""
    found, waits = read_on_fibers(data, **options)
    options = {name: value for name, value in options.items() if name not in ("skew", "seed", "shape", "resident")}
    expected = headrace.read_csv(data, **options)
    assert found is not None
    same_table(found, expected)
    return waits


def same_table(found: headrace.Table, expected: headrace.Table) -> None:
    found.report.check()
    for name, column in expected.columns.items():
        made = found[name]
        assert (made.type, made.null_count) == (column.type, column.null_count), name
        assert repr(made.to_pylist()) == repr(column.to_pylist()), name
    for name in ("records", "rows", "rejected", "skipped", "columns", "bytes", "filled"):
        assert getattr(found.report, name) == getattr(expected.report, name), name


def record_searches(patch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by each search for the structure of a text with quotes: by masks, or by the automaton."""
    searches: list[str] = []
    names = {"summarize_plain": "masks", "summarize_dfa": "automaton"}
    launch = FiberLauncher.launch

    def recorded(self: FiberLauncher, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        if entry.name in names:
            searches.append(names[entry.name])
        launch(self, entry, shape, args)

    patch.setattr(FiberLauncher, "launch", recorded)
    return searches
