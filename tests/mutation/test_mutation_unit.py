"""Tests that the list of planted errors fits the source, and that the runner distinguishes an error that is found from one that
is not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation.judge import Judge, Place, judge
from tests.mutation.mutants import NATIVE, PACKAGE, ROOT, Mutant, MutantError, read_mutants
from tests.mutation.plant import planted
from tests.mutation.table import RESULTS, read_table, write_table

MUTANTS = read_mutants()


def mutant(name: str = "one", **given: str) -> Mutant:
    row = {"file": "a.py", "line": "return a < b", "choice": "a < b", "token": "<", "becomes": "<="}
    return Mutant(name, near=("test_a.py",), **{**row, **given})


def test_there_are_enough_of_each_kind():
    groups = [one.group for one in MUTANTS]
    assert len(MUTANTS) >= 150
    assert min(groups.count(group) for group in ("C++", "CUDA", "Python")) >= 30


@pytest.mark.parametrize("file", sorted({one.file for one in MUTANTS}))
def test_each_row_fits_its_file(file: str):
    """Each line occurs exactly once, and the choices of a file do not overlap."""
    text = (ROOT / PACKAGE / file).read_text(encoding="utf-8")
    own = [one for one in MUTANTS if one.file == file]
    assert planted(text, own).count("headrace_mutant ==" if not file.endswith(".py") else "HEADRACE_MUTANT") >= len(own)


@pytest.mark.parametrize("test", sorted({test for one in MUTANTS for test in one.near}))
def test_near_tests_are_there(test: str):
    if test.startswith(NATIVE):
        assert (ROOT / "tests" / "native" / f"{test.removeprefix(NATIVE)}.cpp").is_file()
        return
    path, _, name = test.partition("[")[0].partition("::")
    assert (ROOT / path).is_file()
    assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"line": "return b < a", "choice": "b < a"}, "occurs 0 times in a.py"),
        ({"line": "return", "choice": "return"}, "occurs 2 times in a.py"),
        ({"choice": "b < a"}, "occurs 0 times in its line"),
        ({"token": ">"}, "occurs 0 times in its choice"),
        ({"becomes": "<"}, "replaced by itself"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(change: dict[str, str], told: str):
    with pytest.raises(MutantError, match=told):
        planted("return a < b\nreturn c\n", [mutant(**change)])


def test_choices_that_overlap_are_refused():
    whole = mutant("two", choice="return a < b", line="return a < b", token="a", becomes="c")
    with pytest.raises(MutantError, match="overlaps"):
        planted("return a < b\n", [mutant(), whole])


def test_several_errors_of_one_expression():
    one, two = mutant("one"), mutant("two", becomes=">")
    code = planted("def f(a, b):\n    return a < b\n", [one, two])
    for number, expected in ((0, [True, False, False]), (one.number, [True, True, False]), (two.number, [False, False, True])):
        calls = f"{code}\nprint([f(1, 2), f(1, 1), f(2, 1)])\n"
        environment = {**os.environ, "HEADRACE_MUTANT": str(number)}
        found = subprocess.run([sys.executable, "-c", calls], env=environment, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == str(expected)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_expressions_and_statements_of_cpp(tmp_path: Path):
    text = "int f(int a, int b) {\n    int sum = a;\n    if (a < b)\n        sum += b;\n"
    text += "    else\n        sum -= b;\n    return sum;\n}\n"
    less = mutant("less", file="a.hpp", line="if (a < b)", choice="a < b")
    adds = mutant("adds", file="a.hpp", line="sum += b;", choice="sum += b;", token="+=", becomes="=")
    program = planted(text, [less, adds]) + '#include <cstdio>\nint main() { std::printf("%d %d", f(1, 2), f(2, 2)); }\n'
    (tmp_path / "a.cpp").write_text(program, encoding="utf-8")
    subprocess.run(["g++", "-std=c++20", "-o", str(tmp_path / "a"), str(tmp_path / "a.cpp")], check=True)
    for number, expected in ((0, "3 0"), (less.number, "3 4"), (adds.number, "2 0")):
        environment = {**os.environ, "HEADRACE_MUTANT": str(number)}
        found = subprocess.run([str(tmp_path / "a")], env=environment, capture_output=True, text=True, check=True)
        assert found.stdout == expected


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A package of one function with two errors, and tests near it; one is not tested, and one does not end."""
    tree = tmp_path / "tree"
    source = "def is_below(a, b):\n    return a < b\n\n\ndef count(a):\n    while a > 0:\n        a -= 1\n    return a\n"
    rows = [
        mutant("found"),
        mutant("missed", becomes="< 0 +"),
        mutant("endless", line="while a > 0", choice="a > 0", token="> 0", becomes=">= 0 or True"),
    ]
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "a.py").write_text(planted(source, rows), encoding="utf-8")
    tests = "from a import count, is_below\n\n\ndef test_below():\n    assert is_below(1, 2) and not is_below(2, 2)\n\n\n"
    (tree / "test_a.py").write_text(tests + "def test_count():\n    assert count(3) == 0\n", encoding="utf-8")
    (tree / "test_wrong.py").write_text("def test_wrong():\n    assert False\n", encoding="utf-8")
    return Place(tree, tmp_path, tmp_path)


def test_found_and_missed_errors_are_told_apart(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins take most of the time of each pytest
    runner = Judge(place)
    assert runner.of(mutant("found")).found_by == "test_a.py::test_below"
    assert runner.of(mutant("missed", becomes="< 0 +")).found_by is None
    assert judge(("test_a.py",), place, mutant("endless").number, 1.0).found_by == "time limit, test_a.py"
    with pytest.raises(RuntimeError, match="fails without a mutant"):
        runner.without(("test_wrong.py",))
    with pytest.raises(RuntimeError, match="pytest cannot run"):
        runner.without(("test_of_nothing.py",))


def test_the_table_counts_by_language_and_stage(tmp_path: Path):
    rows = [
        mutant("a"),
        mutant("b", file="gpu/block/look_back.cuh", survives="equal"),
        mutant("c", file="columns/rules/numbers/digits.hpp"),
    ]
    write_table(tmp_path / "table.md", rows, {"a": "test_a.py::test_below", "b": None})
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| Python | 1 | 1 |" in text and "| CUDA | 1 | 0 |" in text and "| all | 2 | 1 (50.0 %) |" in text
    assert "| b | gpu/block/look_back.cuh | `<` becomes `<=` | not found: equal |" in text and "digits" not in text
    assert read_table(tmp_path / "table.md") == {"a": "test_a.py::test_below", "b": None}


def test_verdicts_are_read_back(tmp_path: Path):
    verdicts = {"a": "test_a.py::test_or[a | b]", "b": None}
    rows = [mutant("a", token="a < b", becomes="a | b"), mutant("b", becomes="> ")]
    write_table(tmp_path / "table.md", rows, verdicts)
    assert read_table(tmp_path / "table.md") == verdicts
    assert len(read_table(RESULTS)) > 250
