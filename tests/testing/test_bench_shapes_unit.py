"""Tests the benchmark of shapes: its texts, its checks of answers, its turns, and its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from pyarrow import csv

import headrace
from bench import readme
from bench.read.shapes import check, cpu, report
from bench.read.shapes.catalogue import SHAPES
from bench.read.shapes.figures import is_below_goal, ratio_of, worst_first
from bench.read.shapes.plot import picture
from bench.read.shapes.shape import header_of, stored_text, text_of
from bench.tables import keep

SIZE = 12_000
LONG = {"fields of 4 KB", "fields of 300 KB to 1 MB", "2,000 columns of prices", "2,000 columns of words", "skewed lengths"}
LONG |= {"texts of 18 KB in 1 % of short records"}
"""Shapes of long records: their texts are larger than asked for, or the oracle takes long."""
WORDS = SHAPES["ASCII words, three columns"]
FAULTS = {policy: SHAPES[f"1 % of a column does not convert, {policy}"] for policy in ("null", "reject")}


@pytest.fixture(autouse=True)
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.read.shapes.shape.SAMPLE_BYTES", 4_000)


@pytest.mark.parametrize("name", SHAPES)
def test_a_text_is_the_same_in_every_call_and_has_the_types_of_the_shape(name: str) -> None:
    shape = SHAPES[name]
    text = text_of(shape, SIZE)
    assert text == text_of(shape, SIZE)
    assert text.startswith(header_of(shape))
    assert name in LONG or 0.7 < len(text) / SIZE < 1.4
    table = headrace.read_csv(text, threads=1, **shape.read_options)
    table.report.check()
    columns = zip(table.columns.values(), shape.types, strict=True)
    found = [(check.plain_name(str(column.type)), wanted) for column, wanted in columns if column.null_count < len(column)]
    assert [pair for pair in found if pair[0] != pair[1]] == []
    assert len(found) > 200 if "97 %" in name else len(found) == (0 if "without a value" in name else len(shape.types))
    faults = {"null": "on_error" in shape.options, "reject": True}.get(shape.options.get("on_error", ""), False)
    assert (table.report.faults > 0) <= faults


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in LONG])
def test_the_oracle_agrees_on_a_short_text(name: str) -> None:
    known = check.check_piece(SHAPES[name], size=800)
    assert known == (not SHAPES[name].options.keys() & {"encoding", "strings", "short_records"})


def test_a_larger_text_repeats_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.read.shapes.shape.BLOCK_BYTES", 10_000)
    header = header_of(WORDS)
    block = text_of(WORDS, 10_000)[len(header) :]
    assert text_of(WORDS, 50_000) == header + 5 * block


@pytest.mark.parametrize("size", [5000, 10_000, 50_000])
def test_a_stored_text_is_the_text(size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADRACE_BENCH_DATA", str(tmp_path))
    monkeypatch.setattr("bench.read.shapes.shape.BLOCK_BYTES", 10_000)
    assert stored_text(WORDS, size) == stored_text(WORDS, size) == text_of(WORDS, size)
    assert len(list(tmp_path.glob("shapes/*.csv"))) == (size >= 10_000)


def answer_of(text: bytes, path: Path, name: str, **options: Any) -> pa.Table:
    """Keep headrace's answer, and return PyArrow's."""
    check.keep_answer(headrace.read_csv(text, **SHAPES[name].read_options), SHAPES[name], path)
    return csv.read_csv(pa.BufferReader(text), convert_options=csv.ConvertOptions(**options))


def test_an_answer_that_differs_in_one_value_is_found(tmp_path: Path) -> None:
    path = tmp_path / "answer.arrow"
    table = answer_of(text_of(WORDS, 2000), path, WORDS.name)
    assert check.check_answer(table, WORDS, path) == ""
    assert check.check_answer(table.slice(1), WORDS, path).startswith(f"{len(table) - 1} rows")
    changed = table.set_column(1, "c1", pa.array([*table["c1"].to_pylist()[:-1], "other"]))
    assert check.check_answer(changed, WORDS, path) == "column c1"


@pytest.mark.parametrize("policy", FAULTS)
def test_the_policy_is_applied_to_a_peer_that_reads_text(policy: str, tmp_path: Path) -> None:
    shape, path = FAULTS[policy], tmp_path / "answer.arrow"
    table = answer_of(text_of(shape, 20_000), path, shape.name, column_types={"c1": pa.string()})
    assert "n/a" in table["c1"].to_pylist()
    assert check.check_answer(table, shape, path) == ""
    changed = table.set_column(1, "c1", pa.array(["7", *table["c1"].to_pylist()[1:]]))
    assert check.check_answer(changed, shape, path) == "column c1"


def test_codes_of_texts_are_compared_by_their_texts(tmp_path: Path) -> None:
    path = tmp_path / "answer.arrow"
    table = answer_of(text_of(WORDS, 2000), path, WORDS.name)
    codes = table["c1"].combine_chunks().dictionary_encode()
    for words, wrong in ((codes.dictionary, ""), (pa.array(codes.dictionary.to_pylist()[::-1]), "column c1")):
        changed = pa.DictionaryArray.from_arrays(codes.indices, words.cast(pa.string_view()))
        assert check.check_answer(table.set_column(1, "c1", changed), WORDS, path) == wrong


def test_a_type_that_is_not_the_shapes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="c0 has type int64"):
        check.keep_answer(headrace.read_csv(b"c0,c1,c2\n1,2,3\n"), WORDS, tmp_path / "answer.arrow")


def readers_of(monkeypatch: pytest.MonkeyPatch, seconds: dict[str, list[float]], errors: dict[str, str]) -> cpu.CpuReaders:
    """Return readers whose reads take these seconds, and that answer checks with these errors."""

    def ask(_: cpu.CpuReaders, name: str, step: str) -> dict[str, Any]:
        if step == "read":
            return {"seconds": seconds[name].pop(0), "processor": 1.5}
        return {"error": errors[name]} if name in errors and not step.startswith("open") else {}

    monkeypatch.setattr(cpu.CpuReaders, "ask", ask)
    return cpu.CpuReaders(["pyarrow", "polars"], 2, 3)


def test_rates_are_of_the_fastest_turn_and_wrong_answers_are_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"headrace": [3.0, 1.0, 2.0], "pyarrow": [4.0, 5.0, 2.0], "plain_read": [0.5, 0.25, 0.5]}
    row = readers_of(monkeypatch, seconds, {"polars": "other answer: column c1"}).row(WORDS, 2000)
    size = row["bytes"] / 1e9
    assert (row["gbs"], row["peers"], row["limit"]) == (size / 1.0, {"pyarrow": size / 2.0}, size / 0.25)
    assert row["errors"] == {"polars": "other answer: column c1"}
    assert row["oracle"] is True
    assert ratio_of(row) == 2


def test_a_peer_that_is_much_slower_than_the_best_one_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"headrace": [9.0] * 3, "pyarrow": [1.0] * 3, "polars": [4.1] * 3, "plain_read": [9.0] * 3}
    readers_of(monkeypatch, seconds, {}).row(WORDS, 2000)
    assert {name: len(rest) for name, rest in seconds.items()} == {"headrace": 0, "pyarrow": 0, "polars": 2, "plain_read": 0}


def test_shapes_are_checked_side_by_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADRACE_BENCH_DATA", str(tmp_path))
    readers = cpu.CpuReaders(["pyarrow"], 2, 1)
    try:
        readers.check_side_by_side([WORDS, SHAPES["Latin-1"], SHAPES["durations"]], 20_000)
        monkeypatch.setattr(cpu.CpuReaders, "check", None)
        rows = [readers.row(shape, 20_000) for shape in (WORDS, SHAPES["Latin-1"], SHAPES["durations"])]
    finally:
        readers.stop()
    assert [row["oracle"] for row in rows] == [True, False, True]
    assert [sorted(row["peers"]) for row in rows] == [["pyarrow"], ["pyarrow"], []]


def test_a_wrong_answer_of_headrace_or_one_that_nothing_confirms_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="wrong"):
        readers_of(monkeypatch, {}, {"headrace": "wrong"}).row(WORDS, 2000)
    peers = {"pyarrow": "other", "polars": "other"}
    with pytest.raises(RuntimeError, match="neither the oracle nor a peer"):
        readers_of(monkeypatch, {}, peers).row(SHAPES["Latin-1"], 2000)


def row_of(shape: str, rate: float, peers: dict[str, float], device: str = "cpu") -> dict[str, Any]:
    facts = {"table": "shapes", "device": device, "shape": shape, "bytes": 64_000_000, "threads": 2, "gbs": rate, "limit": 10.0}
    facts["processor"] = {"headrace": 2.0, **dict.fromkeys(peers, 3.0)}
    return facts | {"peers": peers, "errors": {"duckdb": "no | option"}, "oracle": True, "goal": 2.5}


ROWS = [
    row_of("a & b", 3.0, {"pyarrow": 1.0, "polars": 0.5}),
    row_of("c", 1.0, {"pyarrow": 0.5, "polars": 2.0}),
    row_of("d", 0.5, {}),
]


def test_the_table_has_the_worst_shape_first() -> None:
    page = report.page_of([row | {"note": "two shared cores"} for row in ROWS])
    assert [line.split(" | ")[0].strip("| ") for line in page if line.endswith("% |")] == ["c", "a & b", "d"]
    assert "| c | 1.00 | 0.500 | 2.00 |  |  | **0.50** | 1.50 | 2.5x | 10% |" in page
    assert "| c | DuckDB | no / option |" in page
    assert any("Worst shape: c. Below their goal: 1 of 3." in line for line in page)
    assert "two shared cores" in "\n".join(page)


def test_a_read_on_a_gpu_has_its_share_of_a_copy_of_all_bytes_that_it_moves() -> None:
    row = row_of("sparse", 2.0, {}, "gpu") | {"moved": 6 * 64_000_000, "copy": 16.0}
    page = report.page_of([row])
    assert "| sparse | 2.00 |  |  | 2.5 GB/s | 20% | 75% |" in page
    assert any(line.endswith("| of the limit | of a copy |") for line in page)


def test_shapes_are_ranked_by_processor_time_if_asked() -> None:
    rows = [
        row | {"rank": "processor", "processor": {"headrace": 1.0, "pyarrow": one}}
        for row, one in zip(ROWS, (0.5, 4), strict=False)
    ]
    rows = [row | {"peers": {"pyarrow": 1.0}} for row in rows]
    assert [row["shape"] for row in worst_first(rows)] == ["a & b", "c"]
    assert [is_below_goal(row) for row in rows] == [True, False]
    assert any("Worst shape: a & b. Below their goal: 1 of 2." in line for line in report.page_of(rows))


@pytest.mark.parametrize(("device", "lengths"), [("cpu", [0.5, 1, 3, 1]), ("gpu", [0.5, 1, 2, 3, 1])])
def test_the_plot_has_bars_worst_shape_first(device: str, lengths: list[float]) -> None:
    root = ElementTree.fromstring(picture([row | {"device": device} for row in ROWS]))
    widths = [float(bar.attrib["width"]) for bar in root if bar.attrib.get("height") == "7"]
    assert [width / widths[1] for width in widths] == pytest.approx(lengths, rel=0.01)


def test_the_blocks_of_a_page_name_the_worst_shape(tmp_path: Path) -> None:
    folder = tmp_path / "bench" / "results" / "here"
    keep(folder / "2026-01-02-shapes-cpu", [], ROWS)
    goals = {"c": (30.0, 250), "d": (40.0, 200), "e": (20.0, 10)}
    on_gpu = [row_of(name, rate, {}, "gpu") | {"goal": goal, "limit": 100.0} for name, (rate, goal) in goals.items()]
    on_gpu[0]["peers"] = {"cudf": 10.0}
    keep(folder / "2026-01-02-shapes-gpu", [], on_gpu)
    results = readme.Results(tmp_path, tmp_path)
    shown = readme.BLOCKS["shapes"](results)
    assert "Worst shape on the CPU: c, 0.50 times Polars." in shown
    assert "| c | 1.00 | 2.00 (Polars) | **0.50** |" in shown
    assert shown.index("| c |") < shown.index("| a & b |")
    shown = readme.BLOCKS["gpu shapes"](results)
    assert "Slowest shape on a GPU: e, 20.0 GB/s." in shown
    assert "The median of 3 shapes is 30.0 GB/s," in shown
    assert "and 2 are below their goal. The 3 farthest from it:" in shown
    assert "| c | 30.0 | 250 | **0.12** | 30% | 10.0 | 3.00 |" in shown
    assert shown.index("| c |") < shown.index("| d |") < shown.index("| e |")
