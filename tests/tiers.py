"""Chooses the tier of each test from the marks of its function: default, long or nightly (CONTRIBUTING.md, Tests).

A test of many parameters runs by default for a covering set. These few parameter sets together have each value, or each pair of
values, at least once. Most faults depend on one value or on two (Kuhn, Wallace and Gallo, 2004).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import combinations

import pytest

LONG_STRENGTH = 1
"""Strength of the covering set that runs in CI, where the mark ``covering`` names no other."""


def covering(rows: Sequence[Sequence[object]], strength: int, chosen: Iterable[int] = ()) -> list[int]:
    """Return the numbers of rows that together have each combination of `strength` values; the same ones each time.

    Parameters
    ----------
    rows
        The values of each parameter, in each row the same parameters.
    strength
        1 for each value, 2 for each pair of values of two parameters, 0 for any one row.
    chosen
        Numbers of rows that are taken anyway. They are in the result.

    Examples
    --------
    >>> covering([(0, 0), (0, 1), (1, 0), (1, 1)], 1)
    [0, 3]
    """
    if rows and strength >= len(rows[0]):
        return list(range(len(rows)))
    having = [set(combinations(enumerate(row), min(strength, len(row)))) for row in rows]
    taken = set(chosen)
    left = set().union(*having) - set().union(*(having[number] for number in taken))
    while left:
        best = max(range(len(rows)), key=lambda number: len(having[number] & left))
        taken.add(best)
        left -= having[best]
    return sorted(taken)


def seeds(count: int) -> list[object]:
    """Return `count` seeds for a parameter: a fifth of them, two at least, in the default tier, and others for nightly runs."""
    return [seed if seed < max(2, count // 5) else pytest.param(seed, marks=pytest.mark.nightly) for seed in range(count)]


def set_tiers(items: Iterable[pytest.Item], *, whole: bool) -> None:
    """Mark tests as long and nightly; a nightly test has both marks. `whole` is False if single tests are asked for."""
    functions: dict[tuple[object, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("nightly") is not None:
            item.add_marker(pytest.mark.long)
        if hasattr(item, "callspec"):
            functions[item.path, item.nodeid.partition("[")[0]].append(item)
    for name, tests in functions.items():
        unmatched = _except_patterns(tests)
        if unmatched and whole:
            raise pytest.UsageError(f"{name[1]} has no parameters that match {unmatched} of its mark long_except")
        _cover(tests)


def _except_patterns(tests: Sequence[pytest.Item]) -> list[str]:
    """Mark as long what no pattern of ``long_except`` matches; return the patterns that match no test."""
    marker = tests[0].get_closest_marker("long_except")
    if marker is None:
        return []
    unmatched = set(marker.args)
    for test in tests:
        matching = {pattern for pattern in marker.args if fnmatchcase(test.callspec.id, pattern)}
        unmatched -= matching
        if not matching:
            test.add_marker(pytest.mark.long)
    return sorted(unmatched)


def _cover(tests: Sequence[pytest.Item]) -> None:
    """Leave a covering set in the default tier and one in the long tier."""
    marker = tests[0].get_closest_marker("covering")
    rows = _values(tests)
    strengths = {"default": len(rows[0]), "long": LONG_STRENGTH} | (marker.kwargs if marker is not None else {})
    short = [number for number, test in enumerate(tests) if test.get_closest_marker("long") is None]
    default = [short[number] for number in covering([rows[number] for number in short], strengths["default"])]
    for number in set(short) - set(default):
        tests[number].add_marker(pytest.mark.long)
    candidates = [number for number, test in enumerate(tests) if test.get_closest_marker("nightly") is None]
    kept = covering([rows[number] for number in candidates], strengths["long"], map(candidates.index, default))
    for number in set(candidates) - {candidates[each] for each in kept}:
        tests[number].add_marker(pytest.mark.nightly)
        tests[number].add_marker(pytest.mark.long)


def _values(tests: Sequence[pytest.Item]) -> list[tuple[object, ...]]:
    """Return for each test one value for each decorator that gives it parameters, and for each fixture that does.

    All tests of a function share the objects that these list, so their addresses are compared: not all values can be.
    """
    given = tests[0].callspec.params
    decorators = [marker.args[0] if marker.args else marker.kwargs["argnames"] for marker in tests[0].iter_markers("parametrize")]
    names = [each.replace(" ", "").split(",") if isinstance(each, str) else list(each) for each in decorators]
    names += [[name] for name in given if not any(name in each for each in names)]
    return [tuple(tuple(id(test.callspec.params[name]) for name in each) for each in names) for test in tests]
