"""Tests that the table of features names existing tests, and that a row that does not is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import features

ROOT = Path(__file__).parents[2]
HEAD = "# Features\n\n| feature | here | shown by, or why not | pandas |\n| --- | --- | --- | --- |\n"
LINK = "[test_a.py::test_b](../tests/test_a.py)"


@pytest.fixture
def findings(tmp_path):
    def findings(row):
        (tmp_path / "docs").mkdir()
        (tmp_path / "tests").mkdir()
        (tmp_path / "docs/features.md").write_text(HEAD + row + "\n\n| no | table | of features |\n")
        (tmp_path / "tests/test_a.py").write_text("def test_b(): pass\nclass LazySequence:\n    def test_c(self): pass\n")
        return [(finding.line, finding.message) for finding in features.check(tmp_path)]

    return findings


def test_every_test_of_this_tree_s_table_is_there():
    assert [str(finding) for finding in features.check(ROOT)] == []
    text = (ROOT / features.PAGE).read_text()
    assert text.count("::test_") > 80
    assert text.count("| no |") > 10


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("| a | yes | [test_a.py::test_x](../tests/test_a.py) | no |", "there is no test_a.py::test_x in ../tests/test_a.py"),
        ("| a | yes | [test_a.py::test_c](../tests/test_a.py) | no |", "there is no test_a.py::test_c in ../tests/test_a.py"),
        ("| a | yes | [test_d.py::test_b](../tests/test_d.py) | no |", "there is no test_d.py::test_b in ../tests/test_d.py"),
        ("| a | yes | [test_a.py::test_b](tests/test_a.py) | no |", "there is no test_a.py::test_b in tests/test_a.py"),
        ("| a | yes | [test_d.py::test_b](../tests/test_a.py) | no |", "test_d.py and its link ../tests/test_a.py differ"),
        (f"| a | partly | but not b: {LINK}, [test_a.py::test](../tests/test_a.py) | no |", "there is no test_a.py::test in"),
        ("| a | yes | surely | no |", "names no test: 'surely'"),
        ("| a | partly | only b | no |", "names no test: 'only b'"),
        (f"| a | partly | {LINK}, {LINK} | no |", "does not say what is missing"),
        ("| a | no | – | no |", "does not say what is missing"),
        (f"| a | maybe | {LINK} | no |", "neither yes, partly nor no: 'maybe'"),
        (f"| a | yes | {LINK} | never |", "neither yes, partly nor no: 'never'"),
        (f"| a | yes | {LINK} |", "3 cells, but the table has 4 columns"),
    ],
)
def test_a_row_that_promises_too_much_is_found(findings, row, message):
    [(line, found), *_] = findings(row)
    assert line == 5
    assert found.startswith(message)


@pytest.mark.parametrize(
    "row",
    [
        f"| a | yes | {LINK} | yes (of files) |",
        f"| a | yes | as a list: {LINK}; {LINK} | yes? |",
        f"| a | partly | not b; {LINK} | – |",
        "| a | no | planned | no |",
        f"| a | no | refused: {LINK} | no |",
    ],
)
def test_honest_rows_are_left_alone(findings, row):
    assert findings(row) == []


def test_a_tree_without_the_page(tmp_path):
    assert features.check(tmp_path) == []
