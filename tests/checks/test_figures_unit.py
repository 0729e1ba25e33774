"""Tests the law of figures: blocks of a page equal the result files; a figure that is changed by hand is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import readme
from checks import figures

ROOT = Path(__file__).parents[2]
MACHINE = {"commit": "0123456789ab", "date": "2026-01-02", "gpu": "NVIDIA H200", "driver": "580.1"}
MACHINE |= {"cores": "16", "processor": "Xeon"}
BLOCK = """<!-- figures: multisplit -->

| 2^28 items, G/s | call | CUB | ratio | kernel | CUB | ratio | kernel, of the limit |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| keys, 2 buckets; CUB: partition | 291 | 300 | 0.97 | 326 | 325 | 1.00 | 92% |

Results: [2026-01-02-multisplit-called](bench/results/h200/2026-01-02-multisplit-called.md); commit 0123456789ab, 2026-01-02; \
NVIDIA H200, driver 580.1, 16 cores of Xeon.

<!-- end -->"""
PAGE = f"# A page\n\nIt took 3.2 ms once.\n\n## Measured\n\nBy the call.\n\n{BLOCK}\n\n## Next\n\nAnother 5 ms.\n"


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "bench" / "results" / "h200"
    folder.mkdir(parents=True)
    row = {"mode": "keys", "m": 2, "n": 1 << 28, "way": "partition", "limit": 355.0, "call": 291.2, "kernel": 325.6}
    keep(folder, "2026-01-02-multisplit-called", [row | {"cub_call": 300.1, "cub_kernel": 324.9}])
    (tmp_path / "README.md").write_text(PAGE)
    return tmp_path


def keep(folder, name, rows):
    (folder / f"{name}.json").write_text(json.dumps({"machine": MACHINE, "rows": rows}))


def found(tree):
    return [(finding.path, finding.line) for finding in figures.check(tree)]


def test_figures_of_the_results_pass(tree):
    assert found(tree) == []


@pytest.mark.parametrize(
    ("figure", "changed"), [("| 291 |", "| 301 |"), ("325 |", "165 |"), ("92%", "95%"), ("0123456789ab", "feed")]
)
def test_a_figure_changed_by_hand_is_found(tree, figure, changed):
    (tree / "README.md").write_text(PAGE.replace(figure, changed, 1))
    (finding,) = figures.check(tree)
    assert (finding.path, finding.line) == ("README.md", 9)
    assert changed.strip("| ") in finding.message


def test_rows_left_out_or_added_are_found(tree):
    row = next(line for line in PAGE.splitlines() if line.startswith("| keys"))
    for page in (PAGE.replace(row + "\n", ""), PAGE.replace(row, f"{row}\n{row}")):
        (tree / "README.md").write_text(page)
        assert found(tree) == [("README.md", 9)]


def test_a_newer_result_makes_the_page_stale(tree):
    row = {"mode": "keys", "m": 2, "n": 1 << 28, "way": "partition", "limit": 355.0, "call": 280.0, "kernel": 325.6}
    keep(tree / "bench/results/h200", "2026-01-03-multisplit-called", [row | {"cub_call": 300.1, "cub_kernel": 324.9}])
    assert found(tree) == [("README.md", 9)]


def test_unknown_figures_and_figures_without_results_are_found(tree):
    (tree / "README.md").write_text("<!-- figures: pumpkins -->1<!-- end --> <!-- figures: sorts -->2<!-- end -->\n")
    assert found(tree) == [("README.md", 1), ("README.md", 1)]


@pytest.mark.parametrize("loose", ["It runs at 291 G/s.", "A call takes 0.3 ms.", "That is 1.7 times CUB.", "50 GB/s to the GPU"])
def test_a_figure_beside_a_block_is_found_as_nothing_compares_it(tree, loose):
    (tree / "README.md").write_text(PAGE.replace("By the call.", loose))
    assert found(tree) == [("README.md", 7)]


def test_pages_are_written_from_the_results(tree):
    page = tree / "README.md"
    stale = PAGE.replace("| 291 |", "| 999 |").replace("92%", "1%")
    assert readme.written(stale, tree, page) == PAGE
    assert readme.written(PAGE, tree, page) == PAGE
    assert readme.written("<!-- figures: sorts -->2<!-- end -->", tree, page) == "<!-- figures: sorts -->2<!-- end -->"


def test_a_page_of_a_folder_has_its_own_links(tree):
    (tree / "docs").mkdir()
    page = tree / "docs" / "page.md"
    page.write_text(PAGE.replace("(bench/", "(../bench/"))
    assert found(tree) == []
    page.write_text(PAGE)
    assert found(tree) == [("docs/page.md", 9)]


def test_readers_compare_like_with_like(tmp_path):
    folder = tmp_path / "bench" / "results" / "xeon-16-cores"
    folder.mkdir(parents=True)

    def row(name, first, best):
        return {"contender": name, "threads": 16, "memory": 10**9, "result": 10**9, "first": first, "best": best, "median": best}

    rows = [row("headrace", 7.2, 15.4), row("pyarrow", 2.7, 2.6), row("polars", 1.7, 2.8), row("plain_read", 8.0, 8.0)]
    rows.append({"contender": "duckdb", "threads": 16, "error": "wrong answer"})
    results = [{"case": "taxi", "file_bytes": 10**9, "rows": rows}]
    machine = MACHINE | dict.fromkeys(("python", "pyarrow", "polars", "duckdb", "pandas"), "1")
    for name in ("readers", "readers-more"):
        (folder / f"2026-01-02-{name}.json").write_text(json.dumps({"machine": machine, "results": results}))
        results = [results[0] | {"case": "wide"}]
    shown = readme.BLOCKS["readers"](readme.Results(tmp_path, tmp_path))
    assert (
        "| taxi trips, 18 columns, 1.0 GB | 7.20 | 2.70 (PyArrow) | **2.67** | 15.4 | 2.80 (Polars) | **5.50** | 0.43 |" in shown
    )
    assert readme.BLOCKS["headline"](readme.Results(tmp_path, tmp_path)).startswith("2.7 to 2.7 times")


FROM = """# A decision

Microseconds:

<!-- from: results/a.md results/b.md -->

| 1 MB | median | least |
| --- | ---: | ---: |
| one | 246 (241) | 1,0{} |
| 64 KB | 0.26 | |

| another | 7 |
| --- | --- |
| table | 99 |
"""


@pytest.mark.parametrize(("digits", "lines"), [("24", []), ("25", [9])])
def test_a_table_has_the_numbers_of_the_results_before_it(tmp_path, digits, lines):
    (tmp_path / "docs/results").mkdir(parents=True)
    (tmp_path / "docs/results/a.md").write_text("| 246.1 | 240.9 |\n")
    (tmp_path / "docs/results/b.md").write_text("1_024 and 0.2566\n")
    (tmp_path / "docs/page.md").write_text(FROM.format(digits))
    assert found(tmp_path) == [("docs/page.md", line) for line in lines]


def test_results_that_are_not_there_and_names_without_a_table_are_found(tmp_path):
    (tmp_path / "a.md").write_text("1\n")
    (tmp_path / "README.md").write_text("<!-- from: gone.md -->\n| a |\n\n<!-- from: a.md -->\n\nNo table.\n")
    assert found(tmp_path) == [("README.md", 1), ("README.md", 5)]


def test_this_tree_keeps_the_law():
    assert [str(finding) for finding in figures.check(ROOT)] == []
