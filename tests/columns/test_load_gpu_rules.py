"""What is counted of a load on a GPU."""

from __future__ import annotations

import headrace


def test_a_context_counts_for_all_its_reads_and_a_report_for_one():
    context = headrace.Context()
    part = context.crossings.part()
    part.count(to_gpu=5)
    part.part().count(to_host=2)
    assert (part.to_gpu, part.to_host, context.crossings.to_gpu, context.crossings.copies) == (5, 2, 5, 2)
    assert headrace.read_csv(b"a\n1\n", context=context).report.crossings == headrace.core.gpu.crossings.Crossings()
