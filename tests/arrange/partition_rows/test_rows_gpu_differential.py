"""Tests the partition of tables and the gather of items on a GPU against the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import buckets
from headrace.arrange.gather.take import take
from headrace.core.errors import OptionError
from tests.arrange.columns_cases import check_same, table_of

pytestmark = pytest.mark.gpu

FORMS = ["plain", "view", "dictionary"]


@pytest.mark.parametrize("form", FORMS)
def test_partition(form: str) -> None:
    for part in (slice(0, 3000), slice(7, 2011), slice(5, 5)):
        given, expected = table_of(form).to("cuda")[part], table_of(form)[part]
        for name, function in (("n", buckets.modulo(7)), ("m", buckets.splitters([0, 10, 60, 100])), ("w", buckets.bits(3, 11))):
            found, offsets = given.partition(name, function)
            wanted, places = expected.partition(name, function)
            assert found.device.kind == "cuda" and offsets.tolist() == places.tolist()
            for each in wanted:
                check_same(found[each].to("cpu"), wanted[each])


@pytest.mark.parametrize("form", FORMS)
def test_partition_by_hash(form: str) -> None:
    given = table_of(form).to("cuda")
    for names in ("n", "city", ["y", "none"], ["ok", "day", "price", "large", "m"]):
        found, offsets = given.partition_by_hash(names, 37)
        wanted, places = table_of(form).partition_by_hash(names, 37)
        assert offsets.tolist() == places.tolist()
        for each in wanted:
            check_same(found[each].to("cpu"), wanted[each])


def test_nulls_of_a_slice() -> None:
    given = table_of("plain").to("cuda")
    with pytest.raises(OptionError, match="has nulls"):
        given[1:90].partition("x", buckets.hash(3))
    assert given[1:5].partition("x", buckets.hash(3))[1][-1] == 4


def test_take() -> None:
    items = headrace.DeviceArray.from_host(np.arange(5000) * 1.5)
    rows = np.random.default_rng(1).integers(0, 5000, 70_001)
    for dtype in ("i4", "u4", "i8", "u8"):
        found = take(items, headrace.DeviceArray.from_host(rows.astype(dtype)))
        np.testing.assert_array_equal(found.to_numpy(), rows * 1.5)
    with pytest.raises(OptionError, match="2 row numbers are outside"):
        take(items, headrace.DeviceArray.from_host(np.array([-1, 0, 5000])))
