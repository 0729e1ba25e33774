"""Tests `headrace profile`: a trace and a page of the workers' work and waits."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headrace.cli.main import main
from headrace.core.process.timeline import NoTimeline, Timeline


def test_a_trace_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, trace = tmp_path / "rows.csv.gz", tmp_path / "out"
    source.write_bytes(gzip.compress(b"a,b\n" + b"1,x\n" * 1000))
    assert main(["profile", str(source), "--trace", str(trace), "--batch-bytes", "1000", "--dtypes", "string"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("4_004 bytes in ")
    assert said[-1] == f"{trace}.json (for ui.perfetto.dev), {trace}.html"
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    works = [event["name"] for event in events if event["ph"] == "X"]
    assert works.count("read and convert") == 5 and "wait for text" in works
    assert all(event["dur"] >= 0 for event in events if event["ph"] == "X")
    page = (tmp_path / "out.html").read_text()
    picture = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert len(picture.findall("{http://www.w3.org/2000/svg}rect")) == len(works)


def test_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "rows.csv"
    source.write_text("a\n1\n")
    assert main(["profile", str(source), "--trace", str(tmp_path / "no folder" / "x")]) == 2
    assert "--trace" in capsys.readouterr().err
    assert main(["profile", str(tmp_path / "nothing.csv"), "--trace", str(tmp_path / "x")]) == 3


def test_sums_by_lane_and_work() -> None:
    timeline = Timeline()
    for _ in range(3):
        with timeline.span("one", "work"), timeline.span("two", "wait <for>"):
            pass
    assert list(timeline.seconds()) == [("two", "wait <for>"), ("one", "work")]
    assert "wait &lt;for&gt;" in timeline.as_page("a & b")
    silent = NoTimeline()
    with silent.span("one", "work"):
        pass
    assert silent.spans == [] and "<svg" in silent.as_page("nothing")
