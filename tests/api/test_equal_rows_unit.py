"""Shows distinct rows, counts and matches of small tables, written by hand, and the errors of wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import MemoryLimitError, OptionError, Table, UnknownColumnError

CITIES = headrace.read_csv(b"city,n,x\nRome,1,0.0\nOslo,2,-0.0\nRome,1,nan\n,1,nan\n,3,1.5\n")


def test_unique() -> None:
    assert CITIES.unique("city").to_pydict()["n"] == [1, 2, 1]
    assert CITIES.unique(["city", "n"]).to_pydict()["n"] == [1, 2, 1, 3]
    assert len(CITIES.unique("x")) == 3
    assert CITIES.unique().equals(CITIES)
    assert CITIES[:0].unique().equals(CITIES[:0])


def test_value_counts() -> None:
    counts = CITIES.value_counts("city")
    assert counts.to_pydict() == {"city": ["Rome", None, "Oslo"], "count": [2, 2, 1]}
    assert CITIES.value_counts("n", name="rows").to_pydict() == {"n": [1, 2, 3], "rows": [3, 1, 1]}
    assert len(CITIES[:0].value_counts("n")) == 0


def test_a_join_is_a_lookup_and_a_take() -> None:
    founded = headrace.read_csv(b"city,founded\nOslo,1048\nRome,-753\nRome,0\n,5\n")
    places = CITIES.lookup(founded, "city")
    assert places.tolist() == [1, 0, 1, -1, -1]
    there = places >= 0
    assert headrace.take(founded["founded"].to_numpy(), places[there]).tolist() == [-753, 1048, -753]
    assert CITIES.lookup(CITIES, ["city", "n"]).tolist() == [0, 1, 0, -1, -1]
    assert CITIES.lookup(founded[:0], on="city").tolist() == [-1] * 5
    for other in (founded.to_polars(), founded.to_arrow()):
        assert CITIES.lookup(other, "city").tolist() == places.tolist()


def test_wrong_arguments() -> None:
    with pytest.raises(UnknownColumnError, match="town"):
        CITIES.unique("town")
    with pytest.raises(OptionError, match="columns is empty"):
        CITIES.value_counts([])
    with pytest.raises(OptionError, match="name is 'city'"):
        CITIES.value_counts("city", name="city")
    with pytest.raises(UnknownColumnError, match="column in on"):
        CITIES.lookup(headrace.read_csv(b"a\n1\n"), "city")
    with pytest.raises(OptionError, match="column 'n' is of int64 here and of string in other"):
        CITIES.lookup(headrace.read_csv(b"n\nx\n"), "n")
    with pytest.raises(OptionError, match="on must be"):
        CITIES.lookup(CITIES, 7)  # type: ignore[arg-type]


def test_memory_limits() -> None:
    table = Table({"n": headrace.read_csv(b"n\n" + b"\n".join(b"%d" % n for n in range(5000)))["n"]})
    with pytest.raises(MemoryLimitError):
        table.unique(context=headrace.Context(memory_limit=10_000))
    assert np.array_equal(table.lookup(table, "n"), np.arange(5000))
