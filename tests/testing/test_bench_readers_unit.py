"""Tests the benchmark of readers: its comparison and its rates, with made-up contenders."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.read import contenders, data, run, worker


def answers_of(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, list[float]], rows: dict[str, int]) -> None:
    """Let processes answer with these seconds, one after another, and rows."""

    def ask(name: str, step: str) -> dict[str, Any]:
        assert step == "read"
        return {"seconds": seconds[name].pop(0), "peak": 10, "rows": rows[name]}

    monkeypatch.setattr(run, "start_worker", lambda contender, *_: contender)
    monkeypatch.setattr(run, "stop_worker", lambda _: None)
    monkeypatch.setattr(run, "ask_worker", ask)


def test_first_reads_are_a_median_of_processes_and_later_ones_the_best(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * 1000)
    answers_of(monkeypatch, {"headrace": [9, 2, 3, 5, 1, 4, 7, 6, 8]}, {"headrace": 3})
    (row,) = run._measure("taxi", path, [("headrace", 1)], [[{"result": 50}]], (3, 2))
    assert [row[rate] * 1e9 for rate in run.RATES] == [pytest.approx(1000 / seconds) for seconds in (7, 1, 3.5)]
    assert (row["memory"], row["result"]) == (10, 50)


def test_the_first_read_of_a_worker_begins_before_the_import_and_later_ones_follow_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def slowly_imported(*_: object) -> contenders.Read:
        time.sleep(0.05)
        return lambda: reads.append(time.sleep(0.02))

    reads: list[None] = []

    monkeypatch.setitem(contenders.CONTENDERS, "slow", slowly_imported)
    monkeypatch.setattr(sys, "argv", ["worker", "slow", "taxi", "a.csv", "1"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("read\nread\nstop\n"))
    worker.main()
    first, later = (json.loads(line)["seconds"] for line in capsys.readouterr().out.splitlines())
    assert first >= 0.07
    assert later < 0.04
    assert len(reads) == 3


def test_a_reader_of_other_rows_or_with_an_error_before_takes_no_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * 1000)
    contenders = [("headrace", 1), ("pyarrow", 1), ("polars", 1), ("duckdb", 1)]
    answers_of(
        monkeypatch,
        {name: [1.0, 1.0] for name, _ in contenders},
        {"headrace": 3, "pyarrow": 3, "polars": 4, "duckdb": 3},
    )
    smaller = {"file_bytes": 500, "rows": [{"result": 20}, {"result": 20}, {"result": 20}, {"error": "wrong answer: column a"}]}
    known = run._as_smaller(smaller, path)
    assert known == [[{"result": 40}], [{"result": 40}], [{"result": 40}], [{"error": "wrong answer: column a"}]]
    rows = run._measure("taxi", path, contenders, known, (1, 1))
    assert ["error" in row for row in rows] == [False, False, True, True]
    assert "4 rows" in str(rows[2]["error"])


def test_a_large_file_repeats_the_records_of_a_small_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(data.MADE, "wide", 30)
    monkeypatch.setitem(data.MAKERS, "wide", lambda: iter([b"a,b\n", b"1,2\n3,4\n" * 4]))
    small, large = data.ensure("wide", 30, tmp_path), data.ensure("wide", 100, tmp_path)
    header, records = small.read_bytes()[:4], small.read_bytes()[4:]
    assert large.read_bytes() == header + 3 * records
