"""Tests the partition of tables against Python lists and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import headrace
from headrace import buckets
from headrace.arrange.partition_rows.rows import take_rows
from headrace.core.errors import OptionError


def line(i: int) -> bytes:
    x = b"" if i % 5 == 0 else b"%.2f" % (i / 8)
    city = b"" if i % 11 == 0 else b"city%d" % (i % 23)
    return b"%d,%s,2020-01-%02d,%s,%s\n" % (i % 37, x, i % 28 + 1, city, b"true" if i % 3 else b"false")


TEXT = b"n,x,day,city,ok\n" + b"".join(map(line, range(3000)))


@pytest.fixture(params=["plain", "view", "dictionary"])
def read(request):
    return headrace.read_csv(TEXT, strings=request.param)


def rows_of(some):
    return list(zip(*some.to_pydict().values(), strict=True))


def test_partition_is_stable_and_takes_all_columns(read) -> None:
    for part in (read, read[7:2011], read[5:5]):
        found, offsets = part.partition("n", buckets.modulo(7))
        rows, keys = rows_of(part), [n % 7 for n in part["n"].to_pylist()]
        assert rows_of(found) == [rows[i] for i in sorted(range(len(rows)), key=keys.__getitem__)]
        assert np.diff(offsets).tolist() == [keys.count(bucket) for bucket in range(7)]
        assert dict(found.schema) == dict(part.schema)


def test_hashes_keep_rows_that_are_equal_together(read) -> None:
    for names in ("n", "x", "city", ["city", "x"], ["ok", "day", "n"]):
        found, offsets = read[3:].partition_by_hash(names, 16)
        rows = rows_of(found)
        assert sorted(rows, key=repr) == sorted(rows_of(read[3:]), key=repr)
        wanted = [names] if isinstance(names, str) else names
        at = [read.column_names.index(name) for name in wanted]
        bucket_of: dict[tuple[object, ...], int] = {}
        for bucket in range(16):
            for row in rows[offsets[bucket] : offsets[bucket + 1]]:
                assert bucket_of.setdefault(tuple(row[i] for i in at), bucket) == bucket
        assert len(set(bucket_of.values())) > 1


def test_the_form_of_texts_and_threads_do_not_matter() -> None:
    parted = [
        headrace.read_csv(TEXT, strings=form).partition_by_hash(["city", "n"], 9, context=headrace.Context(threads=threads))
        for form in ("plain", "view", "dictionary")
        for threads in (1, 3)
    ]
    for found, offsets in parted[1:]:
        assert rows_of(found) == rows_of(parted[0][0])
        assert offsets.tolist() == parted[0][1].tolist()


def test_buckets_are_about_even() -> None:
    numbers = b"n\n" + b"".join(b"%d\n" % i for i in range(20_000))
    offsets = headrace.read_csv(numbers).partition_by_hash("n", 64)[1]
    assert np.diff(offsets).min() > 200
    assert np.diff(offsets).max() < 430


def test_zeros_and_nans_share_a_bucket() -> None:
    found, offsets = headrace.read_csv(b"x\n0.0\n-0.0\nnan\n-nan\n", dtypes={"x": float}).partition_by_hash("x", 500)
    assert np.count_nonzero(np.diff(offsets)) <= 2 and len(found) == 4


def test_take_rows_of_nulls_and_bits() -> None:
    some = headrace.read_csv(b"a,b\n1,\n,\n3,\n")
    assert take_rows(some["a"], np.array([2, 1, 1])).to_pylist() == [3, None, None]
    assert take_rows(some["b"], np.array([1])).to_pylist() == [None]


def test_misuse(read) -> None:
    with pytest.raises(KeyError, match="column"):
        read.partition("m", buckets.modulo(3))
    with pytest.raises(KeyError, match="column"):
        read.partition_by_hash(["n", "m"], 3)
    with pytest.raises(OptionError, match="has nulls"):
        read.partition("x", buckets.hash(3))
    with pytest.raises(OptionError, match="by numbers, or by a hash"):
        read.partition("day", buckets.hash(3))
    with pytest.raises(OptionError, match="from 1 to"):
        read.partition_by_hash("n", 0)
