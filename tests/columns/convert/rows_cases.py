"""Sizes of the kernels in tests of the fast conversion."""

from __future__ import annotations

from headrace.columns.convert.gpu.target import GpuTuning
from headrace.structure.gpu.launches import SearchTuning
from tests.columns.load.load_gpu_cases import shape_of


def shape(*, threads: int = 32, only_dfa: bool = False) -> GpuTuning:
    """Return the sizes of other tests of loads, so that these programs are compiled once."""
    find = SearchTuning(threads=32, rows=2, blocks=1, scan_threads=32, only_dfa=only_dfa)
    return shape_of(find, threads=threads, window=64, row_threads=threads)
