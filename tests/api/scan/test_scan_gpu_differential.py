"""Compares scans on a GPU, with kernels in the fiber harness, with `read_csv` on the CPU, wherever the text is cut.

Checks the order in which the steps of the pipeline use its buffers, too.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace.columns.records.split_points import split_points
from headrace.sources.open import open_source
from headrace.structure.dialect import CSV, Dialect
from tests.api.scan.scan_gpu_cases import FiberBuffers, check, on_fibers
from tests.columns.convert.convert_kernels_cases import table
from tests.columns.load.load_gpu_cases import record_searches

__all__ = ["on_fibers"]

pytestmark = pytest.mark.fibers


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("2", "3")
@pytest.mark.usefixtures("on_fibers")
@pytest.mark.parametrize("seed", range(6))
def test_types_given_and_inferred(seed: int) -> None:
    rng = random.Random(seed)
    types = rng.sample(["int64", "float64", "date32", "bool", "string", "uint64"], 4)
    names = ",".join(f"c{i}" for i in range(4)).encode()
    data = names + b"\n" + table(rng, types, 30, junk=0.02 * (seed % 2), quoted=0.1 * (seed % 3))
    for batch_bytes in (len(data) // 3, rng.randrange(60, 300)):
        check(data, batch_bytes)
        check(data, batch_bytes, schema=types, on_error="reject" if seed % 2 else "null")


@pytest.mark.usefixtures("on_fibers")
def test_a_type_that_a_late_part_changes_and_the_evidence_for_it() -> None:
    data = b"a,b,c\n" + b"1,2,2020-01-01\n" * 30 + b"2.5,99999999999999999999,text\n" + b"3,4,2020-01-01\n" * 5
    found = check(data, 100)
    assert [str(kind) for kind in found.schema.values()] == ["float64", "string", "string"]


QUOTED = b"a,b\n" + b"".join(b'%d,"line, %d\nnext ""line""\n%s"\n' % (i, i, b"x\n" * (i % 7)) for i in range(30))


@pytest.mark.usefixtures("on_fibers")
def test_a_value_that_no_unit_of_all_parts_holds() -> None:
    times = [b"2020-01-01 00:00:00.000000001,PT0.000000001S\n", b"9999-12-31 00:00:00,P200000D\n"]
    for texts in (times, times[::-1]):
        assert set(map(str, check(b"a,b\n" + b"".join(texts), 40).schema.values())) == {"string"}


@pytest.mark.usefixtures("on_fibers")
@pytest.mark.parametrize("infer", ["all", "first"])
def test_one_schema_where_the_first_batch_has_no_rows(infer: Any) -> None:
    text = b"a,b\nx,1\nx,2\n1,3\n2,4\n"
    scan = headrace.scan_csv(text, dtypes={"a": "int64"}, on_error="reject", infer=infer, batch_bytes=8)
    batches = [dict(batch.schema) for batch in scan.batches()]
    assert len(batches) > 1 and all(schema == dict(scan.schema) for schema in batches)
    assert {str(kind) for kind in scan.schema.values()} == {"int64"}
    assert scan.read()["b"].to_pylist() == [3, 4]


@pytest.mark.usefixtures("on_fibers")
def test_tables_without_rows() -> None:
    given = {"a": "category", "b": "string_view", "c": "int8"}
    scan = headrace.scan_csv(b"a,b,c\n", dtypes=given, batch_bytes=8)
    expected = headrace.read_csv(b"a,b,c\n", dtypes=given)
    assert scan.read().schema == expected.schema and scan.read().rejects.schema == expected.rejects.schema


@pytest.mark.usefixtures("on_fibers")
@pytest.mark.parametrize("batch_bytes", [20, 64, 100, 333])
def test_cuts_inside_quotes_are_found_out(batch_bytes: int) -> None:
    check(QUOTED, batch_bytes, dtypes={"a": "int32"})


@pytest.mark.usefixtures("on_fibers")
@pytest.mark.parametrize(
    "options",
    [
        {"comment": "#", "on_error": "reject"},
        {"escape_char": "\\", "on_error": "null"},
        {"skip_blank_lines": False, "short_records": "null", "long_records": "truncate", "on_error": "reject"},
        {"n_rows": 7, "on_error": "reject"},
        {"on_error": "raise"},
        {"lineterminator": "\n", "quote_char": None, "on_error": "reject"},
    ],
)
def test_options(options: dict[str, Any]) -> None:
    lines = [b"n,s"] + [b"%d,x%d" % (i, i) for i in range(20)]
    lines[5:5] = [b'#"no', b"", b"1,2,3", b"5", b'6,"a\nb"', b"z\\\n,1"]
    data = b"\r\n".join(lines) + b"\n"
    for batch_bytes in (11, 50, 120):
        check(data, batch_bytes, dtypes={"n": "int64"}, **options)


@pytest.mark.usefixtures("on_fibers")
def test_several_files_and_resumption(tmp_path: Path) -> None:
    for name, text in (("a", "n,s\n1,x\n2,yy\n"), ("b", "n,s\n3.5,\n4,z\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    files = str(tmp_path / "*.csv")
    expected = headrace.read_csv(files).to_pydict()
    scan = headrace.scan_csv(files, batch_bytes=5)
    batches = list(scan.batches())
    assert scan.read().to_pydict() == expected
    rest = headrace.scan_csv(files, batch_bytes=5, resume=batches[1].report.end).read()
    assert rest.to_pydict() == {"n": [3.5, 4.0], "s": [None, "z"]}


@pytest.mark.usefixtures("on_fibers")
def test_parts_with_stray_quotes_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = record_searches(monkeypatch)
    check(b"a,b\n" + b'1,"x, y"\n' * 10 + b'2,5" pipe\n' + b'3,"z"\n' * 20, 40)
    first = searches.index("automaton")
    assert first > 0 and len(searches) > first + 3
    assert set(searches[first:]) == {"automaton"}


@pytest.mark.usefixtures("on_fibers")
def test_order_of_the_steps() -> None:
    data = b"a,b\n" + b"1,x\n" * 60
    batches = headrace.scan_csv(data, batch_bytes=24, dtypes={"a": "int64", "b": "string"}).batches()
    for _ in batches:
        time.sleep(0.002)
    at = {note: place for place, note in enumerate(FiberBuffers.notes)}
    parts = [part for what, part in FiberBuffers.notes if what == "fill"]
    assert len(parts) > 8
    for before, part in itertools.pairwise(parts):
        assert at["filled", before] < at["fill", part]  # T(p) after T(p-1)
        assert at["parsed", before] < at["parse", part]
    for part in parts:
        assert at["filled", part] < at["parse", part]  # P(p) after T(p)
    for before, part in zip(parts, parts[2:], strict=False):
        assert at["parsed", before] < at["fill", part]  # T(p) after P(p-2)
    ahead = sum(at["fill", part] < at["parsed", before] for before, part in itertools.pairwise(parts))
    assert ahead > len(parts) // 2  # the next is filled while one is converted


@pytest.mark.usefixtures("on_fibers")
def test_a_scan_left_early_leaves_no_thread() -> None:
    batches = headrace.scan_csv(b"a\n" + b"1\n" * 400, batch_bytes=20, dtypes={"a": "int64"}).batches()
    assert next(batches).num_rows == 8
    batches.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "headrace-sender"]


@pytest.mark.parametrize("dialect", [CSV, Dialect(comment="#"), Dialect(quote_char=None)])
def test_cuts_are_where_records_begin(dialect: Dialect) -> None:
    with open_source(QUOTED) as source:
        from headrace.structure.find import find_structure

        starts = find_structure(source, dialect).record_starts
        right = sum(
            split_points(source, dialect, 0, end)[:1] == [max(start for start in starts if start < end)]
            for end in range(starts[1] + 1, len(QUOTED))
        )
        assert right > 0.95 * (len(QUOTED) - starts[1])
