"""Merges in a thread: one at a time, and the error of the last one is raised once."""

from __future__ import annotations

import threading

import pytest

from headrace.store.triggers import MergeThread

pytestmark = pytest.mark.pure


def fail():
    raise ValueError("the disk is full")


@pytest.mark.parametrize("call", [MergeThread.wait, MergeThread.raise_error])
def test_any_error_is_raised_once(call):
    merges = MergeThread(lambda: 0.0)
    merges.begin(fail)
    merges._thread.join()
    with pytest.raises(ValueError, match="the disk is full"):
        call(merges)
    call(merges)
    assert merges.error is None


def test_one_merge_at_a_time():
    merges, begun, may_end = MergeThread(lambda: 0.0), [], threading.Event()

    def merge():
        begun.append(None)
        may_end.wait()

    for _ in range(3):
        merges.begin(merge)
    may_end.set()
    merges.wait()
    assert len(begun) == 1
    merges.begin(merge)
    merges.wait()
    assert len(begun) == 2


def test_a_merge_that_failed_is_left_out_for_a_minute():
    seconds, begun = [0.0], []
    merges = MergeThread(lambda: seconds[0])
    merges.begin(fail)
    merges._thread.join()
    for now, count in ((59.0, 0), (60.0, 1)):
        seconds[0] = now
        merges.begin(lambda: begun.append(None))
        merges._thread.join()
        assert len(begun) == count
    assert merges.error is None
