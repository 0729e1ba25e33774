"""Which texts the kernels load, and what is said of the others."""

from __future__ import annotations

import pytest

import headrace
from headrace.api.csv_options import parse_options
from headrace.api.read_csv import read_csv
from headrace.api.reading import load_plan, prepare
from headrace.columns.load_gpu import why_not
from headrace.sources.open import open_source


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (b"a,b\n1,2\n", {}, ""),
        (b"a;b\n1;2\n", {"sep": ";", "quote_char": None}, ""),
        (b"a,b\n1,2\n", {"lenient_quotes": True}, ""),
        (b"a||b\n1||2\n", {"sep": "||"}, ""),
        (b"a,b\n1,2\n", {"comment": "#"}, ""),
        (b"a,b\n1,2\n", {"sep": "aabaabab"}, ""),
        (b"a,b\n1,2\n", {"encoding": "latin-1"}, ""),
        (b"a,b\n1,2\n", {"shrink": True}, ""),
        (b"a,b\n1,2\n", {"row_index_name": "n"}, ""),
        (b"a,b\n1,2\n", {"encoding_errors": "replace"}, ""),
        (b"a,b\n1,2\n", {"columns": []}, ""),
        (b"a,b\n1,2,3\n", {"long_records": "collect"}, ""),
        (b"a,b\n1,2,3\n", {"long_records": "collect", "columns": ["extra_fields"]}, ""),
    ],
)
def test_why_not(data, options, said):
    parsed = parse_options({**(read_csv.__kwdefaults__ or {}), **options})
    with open_source(data, parsed.source) as source:
        assert why_not(source, load_plan(source, prepare(source, parsed), parsed)) == said


def test_a_context_counts_for_all_its_reads_and_a_report_for_one():
    context = headrace.Context()
    part = context.crossings.part()
    part.count(to_gpu=5)
    part.part().count(to_host=2)
    assert (part.to_gpu, part.to_host, context.crossings.to_gpu, context.crossings.copies) == (5, 2, 5, 2)
    assert headrace.read_csv(b"a\n1\n", context=context).report.crossings == headrace.core.crossings.Crossings()
