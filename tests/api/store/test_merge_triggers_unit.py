"""Thresholds of rows, bytes, ratio and time begin merges."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref

import pytest

from headrace import Store
from headrace.store.files.folder import StoreFolder
from headrace.store.triggers import MergeTimer

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


@pytest.mark.parametrize("key", ["n", None])
def test_a_merge_releases_the_delta(key):
    store = Store(schema={"n": "int64"}, key=key)
    for number in range(2):
        store.append(b"n\n%d\n" % number)
        (change,) = store._opened.engine.state.added
        store.merge()
        gc.collect()
        assert sys.getrefcount(change) == 2  # the name here, and the call's argument


def test_a_timer_neither_keeps_a_store_nor_merges_a_closed_one():
    store = Store(schema={"n": "int64"}, merge_seconds=3600)
    store.append(b"n\n1\n")
    engine, waiting = weakref.ref(store._opened.engine), store._opened.engine._timer._thread
    assert waiting.is_alive()
    del store
    gc.collect()
    assert engine() is None
    waiting.join(20)
    assert not waiting.is_alive()
    closed = Store(schema={"n": "int64"}, merge_seconds=0.2)
    closed.append(b"n\n1\n")
    closed.close()
    time.sleep(0.5)
    assert closed.statistics.delta_rows == 1


class Counter:
    """Counts the ends of waits, each of which begins another one."""

    def __init__(self, seconds):
        self.count, self.seconds, self.lock = 0, seconds, threading.Lock()
        self.timer = MergeTimer(self.end)

    def begin(self):
        with self.lock:
            self.timer.start(self.seconds)

    def end(self):
        self.count += 1
        if self.count < 2000:
            self.begin()

    def counts_to(self, number):
        ends = time.monotonic() + 60
        while self.count < number and time.monotonic() < ends:
            time.sleep(0.01)
        return self.count == number


def test_a_wait_that_ends_at_once_is_not_the_last_one():
    counter = Counter(1e-9)
    counter.begin()
    assert counter.counts_to(2000)


def test_a_wait_whose_thread_has_ended_is_begun_again():
    """A fork ends the thread; a stop does here."""
    counter = Counter(3600)
    counter.begin()
    counter.timer.stop()
    counter.timer._thread.join()
    counter.count, counter.seconds = 1999, 0.01
    counter.begin()
    assert counter.counts_to(2000)


def due_merge(store):
    """Begin a merge as the timer does, in a thread that is a daemon, and return the merge's thread."""
    engine = store._opened.engine
    engine._merged_at -= 3600
    timer = threading.Thread(target=engine._merge_when_due, daemon=True)
    timer.start()
    timer.join()
    return engine._merge_thread._thread


def test_a_process_waits_for_a_merge_that_the_timer_began():
    store = Store(schema={"n": "int64"}, merge_seconds=3600)
    store.append(b"n\n1\n")
    merge = due_merge(store)
    assert not merge.daemon
    merge.join()
    assert store.statistics.merges == 1


def test_the_timer_goes_on_after_an_error_that_was_raised(tmp_path):
    store = Store(tmp_path / "s", schema={"n": "int64"}, merge_seconds=0.3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoreFolder, "write_main", refuse)
        store.append(b"n\n1\n")
        ends = time.monotonic() + 20
        while store.statistics.merge_error is None and time.monotonic() < ends:
            time.sleep(0.01)
    assert store.statistics.merge_error == "the disk is full"
    with pytest.raises(OSError, match="the disk is full"):
        store.wait_for_merge()
    assert merged_within(store)
    assert store.statistics.merge_error is None
    store.close()


def refuse(*_given):
    raise OSError("the disk is full")
