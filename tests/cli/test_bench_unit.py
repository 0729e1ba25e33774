"""Tests `headrace bench paper`: its lists, its tables, CSV and plot, and that a wrong answer is not timed."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headrace.cli.bench.experiment import Experiment, Row, Setting, WrongAnswerError
from headrace.cli.bench.output import Measured, csv_of, plot_of, table_of
from headrace.cli.bench.registry import PAPERS, experiments_of
from headrace.cli.main import main

SVG = "{http://www.w3.org/2000/svg}"
SMALL = Setting(is_small=True)


def measure(_setting: Setting) -> Iterator[Row]:
    """Yield rows of two methods; the paper has no number for one of them."""
    for length in (4, 16):
        yield Row({"method": "a", "m": length}, 2.0 * length, 1.0 * length, default=64.0, share=0.5)
        yield Row({"method": "b<c", "m": length}, 12345.6)


EXPERIMENT = Experiment("table-1", "two methods", "GB/s", "m", measure, "the read rate")
MEASURED = Measured(EXPERIMENT, tuple(measure(SMALL)))


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    assert main(["bench", *words]) == code
    return capsys.readouterr()


def test_a_table_has_the_parameters_and_figures() -> None:
    title, *lines = table_of(MEASURED).splitlines()
    assert title == "table-1: two methods, GB/s"
    assert [line.split() for line in lines] == [
        ["method", "m", "ours", "default", "paper", "%", "of", "the", "read", "rate"],
        ["a", "4", "8.000", "64.00", "4.000", "50.0"],
        ["b<c", "4", "12346"],
        ["a", "16", "32.00", "64.00", "16.00", "50.0"],
        ["b<c", "16", "12346"],
    ]
    assert len({len(line) for line in lines}) == 1


def test_columns_without_figures_are_left_out() -> None:
    row = Row({"m": 1}, 0.25)
    assert table_of(Measured(EXPERIMENT, (row,))).split() == ["table-1:", "two", "methods,", "GB/s", "m", "ours", "1", "0.2500"]


def test_csv_has_a_column_for_each_parameter() -> None:
    other = Measured(Experiment("figure-2", "by size", "ms", "n", measure), (Row({"n": 8}, 0.5),))
    rows = list(csv.DictReader(io.StringIO(csv_of([MEASURED, other]))))
    assert [row["experiment"] for row in rows] == ["table-1"] * 4 + ["figure-2"]
    assert list(rows[0]) == ["experiment", "method", "m", "n", "ours", "default", "paper", "unit", "share"]
    assert list(rows[0].values()) == ["table-1", "a", "4", "", "8", "64", "4", "GB/s", "0.5"]
    assert list(rows[4].values()) == ["figure-2", "", "", "8", "0.5", "", "", "ms", ""]


def test_a_plot_has_a_line_for_each_method() -> None:
    drawn = ElementTree.fromstring(plot_of([MEASURED, MEASURED], "machine"))
    panels = drawn.findall(f"{SVG}svg")
    assert len(panels) == 2
    assert [panel.attrib["y"] for panel in panels] == ["0", "300"]
    texts = {text.text for text in panels[0].iter(f"{SVG}text")}
    assert {"a", "a, paper", "a, default", "b<c", "4", "16", "m; machine", "GB/s: two methods"} <= texts
    lines = [line.attrib for line in panels[0].iter(f"{SVG}polyline")]
    assert len(lines) == 4
    assert len({line["stroke"] for line in lines}) == 2
    assert sorted(line.get("stroke-dasharray", "") for line in lines) == ["", "", "2 3", "5 3"]


def test_a_wrong_answer_is_not_timed() -> None:
    with pytest.raises(WrongAnswerError, match="find of 4 bytes"):
        SMALL.check(False, "find of 4 bytes")
    SMALL.check(True, "find of 4 bytes")


def test_calls_are_repeated_and_prepared() -> None:
    calls: list[str] = []
    seconds = Setting(repeats=3).seconds(lambda: calls.append("call"), lambda: calls.append("prepare"))
    assert 0 <= seconds < 1
    assert len(calls) >= 8 and calls[::2] == ["prepare"] * (len(calls) // 2) and calls[1::2] == ["call"] * (len(calls) // 2)
    calls.clear()
    SMALL.seconds(lambda: calls.append("call"))
    assert calls == ["call"] * 2


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert [line.split()[0] for line in run(capsys, "paper", "--list")[0].splitlines()] == list(PAPERS)
    for name in PAPERS:
        listed = run(capsys, "paper", name, "--list")[0].splitlines()
        assert [line.split()[0] for line in listed] == [experiment.name for experiment in experiments_of(name)]


@pytest.mark.parametrize("name", PAPERS)
def test_experiments_are_well_formed(name: str) -> None:
    experiments = experiments_of(name)
    assert len({experiment.name for experiment in experiments}) == len(experiments) > 0


@pytest.mark.parametrize("name", PAPERS)
def test_quick_run(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, plot = tmp_path / "rows.csv", tmp_path / "rows.svg"
    shown = run(capsys, "paper", name, "--quick", "--csv", str(table), "--plot", str(plot))[0]
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    measured = [experiment for experiment in experiments_of(name) if not experiment.needs_gpu]
    assert all(f"{one.name}: {one.title}; it needs --device cuda\n" in shown for one in experiments_of(name) if one.needs_gpu)
    for experiment in measured:
        assert f"{experiment.name}: {experiment.title}, {experiment.unit}\n" in shown
        own = [row for row in rows if row["experiment"] == experiment.name]
        assert own and all(float(row["ours"]) > 0 and float(row[experiment.across]) > 0 for row in own)
    assert len(ElementTree.fromstring(plot.read_text()).findall(f"{SVG}svg")) == len(measured)


def test_one_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, "paper", "string-matching", "--quick", "--experiment", "table-2.3")[0]
    assert "table-2.3:" in shown and "table-2.2:" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paper"], "NAME is missing; headrace bench paper --list prints the papers"),
        (["paper", "string"], "argument NAME: invalid choice: 'string' (choose from 'string-matching'"),
        (
            ["paper", "string-matching", "--experiment", "table-2.9"],
            "string-matching has no experiment 'table-2.9'",
        ),
        (["paper", "string-matching", "--repeat", "0"], "--repeat must be 1 or more"),
        (["papers", "string-matching"], "argument kind: invalid choice: 'papers'"),
    ],
)
def test_misuse(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in run(capsys, *words, code=2)[1]


@pytest.mark.parametrize("option", ["--csv", "--plot"])
@pytest.mark.parametrize("name", PAPERS)
def test_a_wrong_path_fails_before_the_measurements(
    name: str, option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shown, error = run(capsys, "paper", name, option, str(tmp_path / "absent" / "rows"), code=3)
    assert shown == "" and "No such file or directory" in error


def test_a_wrong_answer_ends_the_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.count", lambda *_given, **_options: 0)
    monkeypatch.setattr("headrace.find", lambda text, _pattern, **_options: text[:1])
    shown = run(capsys, "paper", "string-matching", "--quick", code=1)
    assert "find of 4 bytes, method default: another answer than the reference; it was not timed" in shown[1]


def test_other_commands_import_no_experiment() -> None:
    code = (
        "import sys; from headrace.cli.main import main; main(['--help']); main(['bench', '--help']);"
        "assert not {'numpy', 'headrace.cli.bench.experiment', 'headrace.cli.bench.string_matching'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
