"""Tests the kernels that gather rows and partition tables in the fiber harness against the CPU, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headrace import buckets
from headrace.arrange.bucket.functions import rule_for
from headrace.arrange.bucket.key_types import key_type
from headrace.arrange.gather.take_gpu import Taker, Texts, count_nulls
from headrace.arrange.multisplit.gpu.strategy import Bucketing
from headrace.arrange.multisplit.gpu.tuning import SMALL_TUNING
from headrace.arrange.partition_rows.rows import take_rows
from headrace.arrange.partition_rows.rows_gpu import partition_columns, partition_columns_by_hash
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.testing.fibers.launcher import FiberLauncher
from tests.arrange.columns_cases import check_same, fetched, on_fibers, table_of

pytestmark = pytest.mark.fibers

FORMS = ["plain", "view", "dictionary"]


def taker_of(launcher: FiberLauncher, rows: np.ndarray) -> Taker:
    return Taker(launcher, launcher.put(rows), len(rows), rows.itemsize, threads=64)


@pytest.mark.covering(default=1)
@pytest.mark.long_except("random-*", "forward-u4-plain")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_columns(form: str, dtype: str, order: str) -> None:
    table, launcher = table_of(form), FiberLauncher(order, 3)
    rng = np.random.default_rng(7)
    for count, part in ((0, table), (1, table), (511, table[13:901]), (513, table[:40]), (1100, table)):
        rows = rng.integers(0, len(part), count).astype(dtype)
        launcher.waits = 0
        found = taker_of(launcher, rows).columns({name: on_fibers(launcher, column) for name, column in part.columns.items()})
        assert launcher.waits <= 2  # for the bytes of all texts, and for the nulls
        for name, column in part.columns.items():
            check_same(fetched(found[name]), take_rows(column, rows))


def test_nulls_that_are_not_counted() -> None:
    table, launcher = table_of("plain"), FiberLauncher("random", 3)
    columns = [column for column in table.columns.values() if column.type.name != "null"]
    assert any(column.null_count for column in columns)
    for column in columns:
        for start, length in ((0, len(column)), (3, 70), (5, 1), (9, 0)):
            part = replace(on_fibers(launcher, column), offset=column.offset + start, length=length, null_count=-1)
            assert count_nulls(launcher, part) == column.slice(start, length).null_count


def test_texts_of_all_lengths() -> None:
    sizes = [0, 0, 1, 15, 16, 17, 0, 1000, 3, 0, 0, 64, 5000, 0]
    text = bytes(i % 251 for i in range(sum(sizes)))
    ends = np.cumsum([0, *sizes])
    for width in (4, 8):
        launcher = FiberLauncher("random", width)
        for rows in (np.arange(14), np.arange(14)[::-1].copy(), np.array([0, 1, 6]), np.tile([2, 0, 9], 40), np.array([12] * 3)):
            offsets = launcher.put(ends.astype(f"u{width}"))
            taker = taker_of(launcher, rows.astype("u4"))
            made, values = taker.texts(Texts(offsets, launcher.put(np.frombuffer(text, np.uint8)), 0, width))
            expected = [text[ends[row] : ends[row + 1]] for row in rows]
            assert launcher.fetch(values).tobytes() == b"".join(expected)
            assert launcher.fetch(made).view(f"u{width}").tolist() == [0, *np.cumsum([*map(len, expected)]).tolist()]


def test_texts_that_are_too_many_are_told_before_they_are_taken() -> None:
    launcher = FiberLauncher()
    offsets = launcher.put(np.array([0, 1 << 30], "u4"))
    with pytest.raises(OptionError, match="large_string"):
        taker_of(launcher, np.zeros(3, "u4")).texts(Texts(offsets, launcher.allocate(1), 0, 4))


def test_places_that_are_not_there() -> None:
    launcher = FiberLauncher()
    taker = taker_of(launcher, np.array([3, 4, 7, 0], "u4"))
    taker.check(8, 8)
    with pytest.raises(OptionError, match="2 row numbers are outside of the 4 items"):
        taker.check(4, 4)


@pytest.mark.covering(default=0)
@pytest.mark.parametrize("form", FORMS)
def test_partition(form: str) -> None:
    for part in (table_of(form), table_of(form)[7:1011], table_of(form)[5:5]):
        for name, function in (("n", buckets.modulo(7)), ("m", buckets.splitters([0, 10, 60, 100])), ("w", buckets.bits(3, 11))):
            launcher = FiberLauncher("random", len(part))
            columns = {name: on_fibers(launcher, column) for name, column in part.columns.items()}
            dtype = part[name].to_numpy().dtype
            rule = rule_for(function, dtype, function.parameters[0] if function.kind == "splitters" else None)
            found, offsets = partition_columns(launcher, columns, name, Bucketing(key_type(dtype.str), rule), SMALL_TUNING)
            expected, places = part.partition(name, function)
            assert offsets.tolist() == places.tolist()
            for each in found:
                check_same(fetched(found[each]), expected[each])


@pytest.mark.covering(default=0)
@pytest.mark.parametrize("form", FORMS)
def test_partition_by_hash(form: str) -> None:
    for part in (table_of(form), table_of(form)[3:1999], table_of(form)[5:5]):
        for names in (["n"], ["x"], ["y", "none"], ["city", "x"], ["ok", "day", "price", "large", "m", "w"]):
            launcher = FiberLauncher("random", len(names))
            columns = {name: on_fibers(launcher, column) for name, column in part.columns.items()}
            found, offsets = partition_columns_by_hash(launcher, columns, names, buckets.hash(37), SMALL_TUNING)
            expected, places = part.partition_by_hash(names, 37, context=Context(threads=1))
            assert offsets.tolist() == places.tolist()
            for each in found:
                check_same(fetched(found[each]), expected[each])


def test_nulls_of_a_slice_are_found() -> None:
    from dataclasses import replace

    part = table_of("plain")[:100]
    launcher = FiberLauncher()
    columns = {"x": replace(on_fibers(launcher, part["x"]), null_count=-1)}
    with pytest.raises(OptionError, match="has nulls"):
        partition_columns(launcher, columns, "x", Bucketing("double", rule_for(buckets.hash(3), np.dtype("f8"))), SMALL_TUNING)
    whole = replace(on_fibers(launcher, part["n"]), null_count=-1, validity=launcher.put(np.full(16, 255, "u1")))
    _, offsets = partition_columns(
        launcher, {"n": whole}, "n", Bucketing("u32", rule_for(buckets.hash(3), np.dtype("i4"))), SMALL_TUNING
    )
    assert offsets[-1] == 100
