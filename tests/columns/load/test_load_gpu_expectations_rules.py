"""State that a load keeps for the next text of its plan: it changes the work, not the answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import headrace
from headrace import _native
from headrace.api.load.reading import load_plan, prepare
from headrace.api.options.csv_options import parse_options
from headrace.api.read.read_csv import read_csv
from headrace.columns.convert.gpu.column_group import gpu_plan_of
from headrace.columns.faults.gpu import fault_list
from headrace.columns.infer.infer_gpu import Inference
from headrace.columns.plan.native_dialect import native_dialect
from headrace.sources.open import open_source
from tests.columns.load.load_gpu_cases import SHAPE, check, read_on_fibers, record_searches, same_table


@pytest.mark.fibers
def test_lenient_quotes_of_the_last_text_decide_how_the_next_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = record_searches(monkeypatch)
    plain, stray = b'a,b\n1,"x y"\n2,z\n' * 9, b'a,b\n1,"x" y"\n2,z\n' * 9
    found = []
    for data in (plain, stray, stray, plain, plain):
        searches.clear()
        check(data, lenient_quotes=True, on_error="null")
        found.append(list(searches))
    both = ["masks", "automaton"]
    # The second text is first read by the launches of the first one, which leave the automaton out.
    assert found == [both, ["masks", *both], ["automaton"], ["automaton"], both]


@pytest.mark.fibers
@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n" + b"word,7\nother,8\n" * 300,
        b'a,b\n"a ""word""",7\n"o,ther",8\n' * 200,
        b"a,b\nword,7\n" * 300 + b'"quoted",x\n' + b"word,y\n" * 200,
        b"a,b\nword,7\n" * 300 + b"word,8\r\n" * 200,
        b"a,b\nword,7\n" * 300 + b"\xff,8\n" + b"\n\n" * 9,
        b"a,b\n1,7\n" * 600 + b"word,text\n" * 300,
        b"a,b\n1,7\n" * 300,
    ],
    ids=["words", "quoted", "late-quotes", "late-cr", "invalid", "late-words", "numbers"],
)
def test_types_are_sampled_before_the_search_of_a_large_text(data: bytes) -> None:
    tuning = replace(SHAPE, min_sampled_first=1)
    for policy in ("null", "reject"):
        check(data, shape=tuning, on_error=policy)


def test_a_second_sample_reads_only_columns_without_a_kind() -> None:
    """Column b has its first value after the first sample. Kinds of column a in the second one are not looked at."""
    lines = [f"{row},{'' if row < 300 else 'x'}" for row in range(400)]
    lines[250] = "1.5,"
    data = ("a,b\n" + "\n".join(lines) + "\n").encode()
    parsed = parse_options(dict(read_csv.__kwdefaults__ or {}))
    with open_source(data, parsed.source) as source:
        plan = load_plan(source, prepare(source, parsed), parsed)
        words = np.array([0, 1], np.uint32).tobytes()
        ledger = _native.KindLedger(2)
        place = plan.begin, plan.end, plan.data_begin, plan.tile_bytes
        arguments = source.native, native_dialect(parsed.dialect), _native.NativePlan(plan), place
        ledger.sample(*arguments, 400)
        first = ledger.kinds(words)
        assert first[1] == 0
        ledger.sample(*arguments, len(data), only_empty=True)
        second = ledger.kinds(words)
        assert second[0] == first[0] and second[1] != 0
        evidence = ledger.evidence(1)
        assert evidence is not None and evidence[:3] == (301, data.index(b"x"), b"x")
        inference = Inference(source, parsed.dialect, plan, gpu_plan_of(plan), 0)
        assert not inference.is_right(second)  # nothing was seen yet
    assert str(headrace.read_csv(data).schema["a"]) == "float64"


@pytest.mark.fibers
def test_faults_of_the_last_text_decide_the_room_of_the_next_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_list, "MAX_FAULTS", 8)
    clean, faulty = b"a\n" + b"1\n" * 60, b"a\n" + b"1\nx\n" * 30
    given = {"on_error": "null", "dtypes": {"a": "int64"}}
    passes = []
    for data in (clean, faulty, faulty, clean, faulty):
        found, _ = read_on_fibers(data, **given)
        assert found is not None
        passes.append(found.report.passes)
        same_table(found, headrace.read_csv(data, **given))
    assert passes == [1, 2, 1, 1, 2]
