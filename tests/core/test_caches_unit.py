"""`clear_caches` empties the caches that hold values of callers, and changes no answer."""

from __future__ import annotations

import importlib
from operator import attrgetter

import pytest

import headrace
from headrace.core.caches import CLEARED

TEXT = b"when,price\n2024-01-31,1.5\n2024-02-01,2.25\n"


def size_of(cache) -> int:
    return cache.cache_info().currsize if hasattr(cache, "cache_info") else len(cache)


@pytest.mark.parametrize("module", CLEARED)
def test_every_listed_cache_exists_and_is_emptied(module: str) -> None:
    caches = [attrgetter(name)(importlib.import_module(module)) for name in CLEARED[module]]
    headrace.clear_caches()
    assert [size_of(cache) for cache in caches] == [0] * len(caches)


def test_answers_stay_and_caches_fill_again() -> None:
    from headrace.api.options import csv_options

    options = {"sep": ",", "thousands": "'", "dtypes": {"price": "decimal128(8, 2)"}}
    first = headrace.read_csv(TEXT, **options)
    assert size_of(csv_options._parsed) > 0
    headrace.clear_caches()
    assert size_of(csv_options._parsed) == 0
    again = headrace.read_csv(TEXT, **options)
    assert (again.schema, again.to_pydict()) == (first.schema, first.to_pydict())
    assert size_of(csv_options._parsed) == 1
