"""Tests of the covering sets of parameters, and of the tiers that the suite's configuration derives from marks."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import pytest

from tests.tiers import covering, seeds

pytestmark = pytest.mark.pure

ROWS = list(product("abcd", range(3), (False, True), "xy"))

FILE = """
import pytest
letters = pytest.mark.parametrize("letter", list("abc"))
numbers = pytest.mark.parametrize("number", [1000, 2000, 3000])
switch = pytest.mark.parametrize(("on", "width"), [(False, 8), (True, 8)])

@pytest.mark.covering(default=1, long=2)
@letters
@numbers
@switch
def test_by_value(letter, number, on, width): ...

@pytest.mark.covering(default=1)
@letters
@numbers
def test_nothing_long(letter, number): ...

@pytest.mark.long_except("*1000-a")
@letters
@numbers
@switch
def test_by_pattern(letter, number, on, width): ...

@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly), pytest.param(2, marks=pytest.mark.long)])
def test_by_mark(seed): ...

def test_plain(): ...
"""
CONFIGURATION = """
from tests.tiers import set_tiers
def pytest_collection_modifyitems(items):
    set_tiers(items, whole=True)
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        print("tier", "nightly" if {"nightly", "long"} <= marks else "long" if "long" in marks else "default", item.name)
"""


def combined(rows, strength):
    return {found for row in rows for found in combinations(enumerate(row), strength)}


@pytest.mark.parametrize("strength", [1, 2, 3, 4, 5])
def test_each_combination_is_covered(strength):
    chosen = [ROWS[number] for number in covering(ROWS, strength)]
    assert combined(chosen, min(strength, 4)) == combined(ROWS, min(strength, 4))
    assert chosen == [ROWS[number] for number in covering(ROWS, strength)]


@pytest.mark.parametrize(("strength", "most"), [(1, 4), (2, 14), (3, 30), (4, 48)])
def test_few_rows_are_needed(strength, most):
    assert len(covering(ROWS, strength)) <= most


def test_rows_that_are_chosen_count():
    assert covering([(0, 0), (0, 1), (1, 0), (1, 1)], 1, [1]) == [1, 2]
    assert covering([(0, 0), (0, 1)], 1, [0, 1]) == [0, 1]


def test_one_row_or_none():
    assert covering([(0, 0), (0, 1)], 0) == [0]
    assert covering([(0, 0), (0, 1)], 0, [1]) == [1]
    assert covering([], 1) == []


@pytest.mark.parametrize(("count", "default"), [(2, [0, 1]), (8, [0, 1]), (30, [0, 1, 2, 3, 4, 5])])
def test_a_fifth_of_the_seeds_is_default(count, default):
    given = seeds(count)
    assert len(given) == count and [seed for seed in given if isinstance(seed, int)] == default


@pytest.fixture(scope="module")
def tiers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiers")
    (folder / "test_made_up.py").write_text(FILE)
    (folder / "conftest.py").write_text(CONFIGURATION)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {Path(__file__).parents[2]}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--collect-only", "test_made_up.py"]
    outside = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}  # of the suite's own run
    done = subprocess.run(command, cwd=folder, env=outside, capture_output=True, text=True, check=True)
    return [tuple(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("tier ")]


def names(tiers, tier, function):
    return [name.partition("[")[2].rstrip("]") for found, name in tiers if found == tier and name.startswith(function)]


def test_each_value_has_a_test_by_default_and_each_pair_a_long_one(tiers):
    default, long = names(tiers, "default", "test_by_value"), names(tiers, "long", "test_by_value")
    whole = list(product(("False", "True"), ("8",), ("1000", "2000", "3000"), "abc"))
    assert len(default) == 3
    assert combined([name.split("-") for name in default], 1) == combined(whole, 1)
    assert combined([name.split("-") for name in default + long], 2) == combined(whole, 2)
    assert len(default + long) + len(names(tiers, "nightly", "test_by_value")) == 18
    assert names(tiers, "nightly", "test_by_value")


def test_values_that_have_a_test_need_no_long_one(tiers):
    assert len(names(tiers, "default", "test_nothing_long")) == 3
    assert names(tiers, "long", "test_nothing_long") == []
    assert len(names(tiers, "nightly", "test_nothing_long")) == 6


def test_patterns_and_marks_choose_single_parameter_sets(tiers):
    assert names(tiers, "default", "test_by_pattern") == ["False-8-1000-a", "True-8-1000-a"]
    assert names(tiers, "long", "test_by_pattern") == ["False-8-2000-b", "False-8-3000-c"]
    assert [names(tiers, tier, "test_by_mark") for tier in ("default", "long", "nightly")] == [["0"], ["2"], ["1"]]
    assert names(tiers, "default", "test_plain") == [""]
