"""Tests texts on a GPU that are read in turn with the same options. State that is kept from one text must not affect the next
one.
"""

from __future__ import annotations

import gc
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.api.load import prepared
from headrace.api.load.reading import load_plan, prepare, report_later, table_columns
from headrace.api.options.csv_options import parse_options
from headrace.columns.finish.header_faults import with_header_count, with_header_faults
from headrace.columns.load.gpu.decoded import decode_target
from headrace.columns.load.gpu.load import GpuTarget, load_on_gpu
from headrace.columns.plan.native_dialect import native_dialect
from headrace.core.identity_cache import IdentityCache
from headrace.gpu.kernels.launcher import BufferSlice
from headrace.sources.encoding.decode_gpu import DecodeShape
from headrace.sources.open import open_source
from headrace.structure.dialect import CSV, Dialect
from headrace.testing.fibers.launcher import FiberLauncher
from tests.api.same_read import same_read
from tests.columns.load.load_gpu_cases import SHAPE, view_of

pytestmark = pytest.mark.fibers


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    headrace.clear_caches()  # options of earlier tests would remove those of a test from their cache between two calls
    monkeypatch.setattr(prepared, "known_beginnings", IdentityCache())


def read_far(data: bytes, **options) -> headrace.Table:
    """The table that the kernels make of a text that lies where they run, as `read_csv` reads it."""
    parsed = parse_options({**(headrace.read_csv.__kwdefaults__ or {}), **options})
    launcher = FiberLauncher("random", 0)
    with open_source(data, parsed.source) as opened:
        text = BufferSlice(launcher.put(np.frombuffer(data or bytes(1), np.uint8)), 0, len(data))
        source = replace(opened, on_gpu=text)
        known = prepare(source, parsed)
        place, placed, plan = GpuTarget(launcher, text, SHAPE), source, load_plan(source, known, parsed)
        if source.codec != "utf-8":
            place, placed, plan = decode_target(place, placed, plan, view_of, DecodeShape(64))
        loaded = load_on_gpu(place, placed, parsed.dialect, plan)
        rejects = with_header_faults(loaded.rejects, known.beginning, parsed.context)
        loaded = replace(loaded, rejects=rejects, counts=with_header_count(loaded.counts, known.beginning))
        report = report_later(source, known, loaded, parsed, {})
        return headrace.Table(table_columns(known, loaded, parsed), rejects=headrace.Table(rejects), report=report)


def check(data: bytes, **options) -> None:
    """The same table, rejects and report as on the CPU, or the same error."""
    both = same_read(read_far, data, options)
    assert both is None or both[0].report.renamed == both[1].report.renamed


LINES = b"1,x,2.5\n22,yy,3\n,,\n"
TEXTS = {
    "a header": b"a,b,c\n" + LINES,
    "the same and more": b"a,b,c\n" + LINES * 30,
    "the same alone": b"a,b,c\n",
    "the same and nothing else": b"a,b,c",
    "the same and blank lines": b"a,b,c\n\n\r\n" + LINES,
    "the same and blank lines alone": b"a,b,c\n\n\n",
    "one that begins alike": b"a,b,cd\n" + LINES,
    "one that is shorter": b"a,b\n1,2\n",
    "quotes over two lines": b'a,"b\nb",c\n' + LINES,
    "quotes over three": b'a,"b\nb\nb",c\n' + LINES,
    "CR LF": b"a,b,c\r\n" + LINES,
    "CR alone": b"a,b,c\r" + LINES.replace(b"\n", b"\r"),
    "a mark": b"\xef\xbb\xbfa,b,c\n" + LINES,
    "UTF-16": b"\xff\xfe" + ("a,b,c\n" + LINES.decode()).encode("utf-16-le"),
    "no header": LINES,
    "another number of fields": b"1,2\n3,4\n",
    "names twice": b"a,a,\n" + LINES,
    "a first record of another width": b"1,2,3,4\n" + LINES,
    "empty": b"",
    "malformed": b'a,"b,c\n' + LINES,
    "a quote inside": b'a,b"b,c\n' + LINES,
}
OPTIONS = {
    "none": {},
    "a header": {"header": True},
    "no header": {"header": False},
    "no header and types": {"header": False, "schema": ["int64", "string", "float64"], "on_error": "null"},
    "types by name": {"schema": {"a": "int64", "b": "string", "c": "float64"}, "on_error": "null"},
    "some columns": {"columns": ["c", "a"]},
    "a second line of names": {"header": [0, 1]},
    "lines left out": {"skip_rows": 1},
    "rows left out": {"skip_rows_after_header": 1, "n_rows": 2},
    "lenient quotes": {"lenient_quotes": True, "on_error": "null"},
    "comments": {"comment": "#"},
    "a line end of its own": {"lineterminator": "\n"},
    "collected": {"long_records": "collect", "on_error": "null"},
    "widened": {"long_records": "widen", "on_error": "null"},
}


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("no*", "comments", "a header", "lenient quotes", "types by name")
@pytest.mark.parametrize("options", OPTIONS)
def test_each_text_is_read_as_if_it_were_the_first(options):
    kept = random.Random(options).sample(sorted(TEXTS), len(TEXTS))
    for kind in [*kept, *kept[::-1]]:
        check(TEXTS[kind], **OPTIONS[options])


def test_what_a_caller_changes_afterwards_counts():
    data, other = TEXTS["a header"], b"a,b,x\n" + LINES
    schema, columns = {"a": "int64", "b": "string", "c": "float64"}, ["a", "c"]
    check(data, schema=schema)
    schema["a"] = "float64"
    check(data, schema=schema)
    schema["x"] = schema.pop("c")
    check(data, schema=schema)
    check(other, schema=schema)
    check(data, columns=columns)
    columns.append("b")
    check(data, columns=columns)
    columns[0] = "x"
    check(data, columns=columns)
    check(other, columns=columns)


def test_several_threads_read_texts_that_begin_alike_and_others():
    texts = [TEXTS[kind] for kind in ("a header", "one that begins alike", "CR LF", "names twice", "quotes over two lines")]

    def read(number: int) -> None:
        for turn in range(6):
            check(texts[(number + turn * (number % 2 + 1)) % len(texts)], on_error="null")

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(read, range(4))) == [None] * 4


def test_few_beginnings_are_kept_and_none_of_a_long_header():
    for number in range(20):
        check(b"a%d,b\n1,2\n" % number)
        check(b",".join([b"x"] * number) + b"x\n" + b"1\n", header=False, long_records="truncate", short_records="null")
    check(b"long" * 17_000 + b",b\n1,2\n3,4\n")
    kept = [found for _, found in prepared.known_beginnings._entries.values()]
    assert sorted((len(one._heads), len(one._widths)) for one in kept) == [(0, 4), (4, 0)]
    assert all(len(head) < 100 for one in kept for head, _ in one._heads)


@pytest.mark.parametrize(
    ("dialect", "text", "width"),
    [
        (CSV, b"a,b,c\n1", 3),
        (CSV, b"\n\r\na,b\n1", 2),
        (CSV, b'a,"b,\n""c"\r1', 2),
        (CSV, b"a\n", 1),
        (CSV, b"a,b", 0),
        (CSV, b"", 0),
        (CSV, b'"a,b\nc', 0),
        (Dialect(comment="#"), b"#a,b\n1,2,3\n", 3),
        (Dialect(sep="||", lineterminator=";"), b"a||b|c||d;", 3),
        (Dialect(skip_blank_lines=False), b"\na,b\n", 1),
    ],
)
def test_fields_of_the_first_record(dialect, text, width):
    assert _native.first_width(native_dialect(dialect), text) == width


@pytest.mark.parametrize("inferred", [False, True])
def test_a_report_is_made_later_and_holds_no_memory(inferred, launchers):
    data, options = TEXTS["a header"], {} if inferred else OPTIONS["types by name"]
    gc.collect()
    gc.disable()
    try:
        for _ in range(2):
            table = read_far(data, **options)
            report = table.report
            del table
            assert [launcher() for launcher in launchers] == [None] * len(launchers)
            assert report.columns == headrace.read_csv(data, **options).report.columns
    finally:
        gc.enable()
