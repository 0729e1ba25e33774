"""Thresholds of rows, bytes, ratio and time begin merges."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

from headrace import Store

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("threshold", "merges"),
    [({"merge_rows": 3}, 2), ({"merge_bytes": 48}, 1), ({"merge_ratio": 0.5}, 3), ({"merge_bytes": None}, 0)],
)
def test_thresholds(threshold, merges):
    store = Store(schema={"n": "int64"}, **threshold)
    for begin in range(0, 8, 2):
        store.append(b"n\n%d\n%d\n" % (begin, begin + 1))
        store.wait_for_merge()
    assert store.statistics.merges == merges
    assert store.table()["n"].to_pylist() == list(range(8))


def merged_within(store, seconds=20.0):
    """Wait until the delta is empty; return whether it is before the time has passed."""
    ends = time.monotonic() + seconds
    while store.statistics.delta_rows and time.monotonic() < ends:
        time.sleep(0.01)
    return not store.statistics.delta_rows


def test_time_begins_a_merge_without_a_change(tmp_path):
    store = Store(tmp_path / "s", schema={"n": "int64"}, merge_seconds=0.05)
    for begin in (0, 2):
        store.append(b"n\n%d\n%d\n" % (begin, begin + 1))
        assert merged_within(store)
    assert store.statistics.merges >= 2
    assert store.table()["n"].to_pylist() == [0, 1, 2, 3]
    store.close()
    with Store(tmp_path / "s", merge_bytes=None) as other:
        other.append(b"n\n4\n")
    with Store(tmp_path / "s", merge_seconds=0.05) as later:
        assert merged_within(later)


def test_a_timer_neither_keeps_a_store_nor_merges_a_closed_one():
    store = Store(schema={"n": "int64"}, merge_seconds=3600)
    store.append(b"n\n1\n")
    engine = weakref.ref(store._opened.engine)
    del store
    gc.collect()
    assert engine() is None
    closed = Store(schema={"n": "int64"}, merge_seconds=0.2)
    closed.append(b"n\n1\n")
    closed.close()
    time.sleep(0.5)
    assert closed.statistics.delta_rows == 1
