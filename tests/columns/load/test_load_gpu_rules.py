"""Tests the counters of a load on a GPU, and the memory that it frees."""

from __future__ import annotations

import gc

import pytest

import headrace
from tests.columns.load.load_gpu_cases import read_on_fibers


def test_a_context_counts_for_all_its_reads_and_a_report_for_one():
    context = headrace.Context()
    part = context.crossings.part()
    part.count(to_gpu=5)
    part.part().count(to_host=2)
    assert (part.to_gpu, part.to_host, context.crossings.to_gpu, context.crossings.copies) == (5, 2, 5, 2)
    assert headrace.read_csv(b"a\n1\n", context=context).report.crossings == headrace.core.transfers.Crossings()


@pytest.mark.fibers
@pytest.mark.parametrize("data", [b"a,b\n1,x\n2,y\n", b"a,b\n1,x\n2\n"], ids=["clean", "faulty"])
def test_a_text_is_freed_with_the_read_without_garbage_collection(data, launchers):
    gc.collect()
    gc.disable()
    try:
        read_on_fibers(data, on_error="reject")
        assert [launcher() for launcher in launchers] == [None]
    finally:
        gc.enable()
