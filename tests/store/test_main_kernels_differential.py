"""Compares mains that are merged by kernels, in the fiber harness, with those of the CPU: the bytes of their records."""

from __future__ import annotations

import random

import pytest

from headrace.core.context import Context
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.gpu.launches import DictionaryKernels
from headrace.store.dictionary.gpu.tuning import MergeTile, Translation
from headrace.store.dictionary.merge_gpu import merge_with
from headrace.store.main import Main
from headrace.store.row_runs import RowRuns
from headrace.testing.fibers.launcher import FiberLauncher
from tests.store.state_cases import columns_of

pytestmark = pytest.mark.fibers

THREADS = 64


def content(main):
    return [b"".join(record.parts) for record in main.records()]


def test_mains_of_kernels_have_the_same_bytes(request):
    draw = random.Random(request.node.name)
    launcher = FiberLauncher("random", 7)
    tile = MergeTile(THREADS, 8)
    kernels = DictionaryKernels(
        launcher, tiles=dict.fromkeys((1, 2, 4, 8), tile), text_tile=tile, translation=Translation(THREADS, 1)
    )
    first = columns_of([(n, draw.choice(["Rome", "Oslo", "", "Zürich"])) for n in draw.sample(range(1000), 300)])
    host = Main({name: encode(column) for name, column in first.items()}, RowRuns.of_runs([0], [300]))
    device, rows = host, 300
    for count in (1, 70, 200):
        delta = columns_of([(draw.randrange(2000), draw.choice(["Bonn", "Rome", None, f"city {count}"])) for _ in range(count)])
        rows += count
        runs = RowRuns.of_runs([0], [rows])
        with host.merging(delta.__getitem__, runs, None, Context(threads=2)) as merging:
            host = merging.main()
        merged = {name: merge_with(kernels, launcher, device.columns[name], encode(delta[name]), slice_rows=64) for name in delta}
        device = Main(merged, runs)
        assert content(device) == content(host)
