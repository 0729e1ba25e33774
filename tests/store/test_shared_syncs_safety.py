"""Appends of several threads share a sync of the log: none is acknowledged or seen before it, and all fail with it."""

from __future__ import annotations

import errno
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import pytest

from headrace.core.context import Context
from headrace.core.errors import OptionError, SourceError
from tests.store.engine_cases import SCHEMA, columns_of, open_store
from tests.store.files.crash_cases import CrashFiles

SECONDS = 20


class HeldFiles(CrashFiles):
    """Files whose syncs wait while they are held."""

    def __init__(self, names=None):
        super().__init__(names)
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.syncs = 0
        self.fails_with = None

    def open_append(self, name):
        file = super().open_append(name)
        sync = file.sync

        def held():
            self.syncs += 1
            assert self.goes_on.wait(SECONDS)
            if self.fails_with is not None:
                raise OSError(self.fails_with, "the disk fails")
            sync()

        file.sync = held
        return file


def until(condition):
    end = monotonic() + SECONDS
    while not condition():
        assert monotonic() < end
        sleep(0.001)


def numbers(store):
    return sorted(store.state.columns(["n"], Context(threads=1))["n"].to_pylist())


@pytest.fixture(params=["n", None, "n, replaced"], ids=str)
def key(request):
    return request.param


@pytest.fixture
def files():
    return HeldFiles()


@pytest.fixture
def store(files, key):
    opened = open_store(files, key)
    opened.engine.append(columns_of([(0, "first")]))
    if key is not None:
        opened.engine.find(opened.key.given([0], "keys"))  # the index of keys is there
    return opened


def begin(pool, store, files, given):
    """Begin to append rows with given numbers, each in a thread; return when all are in the log."""
    log, found = store.engine.folder.log, []
    for number in given:
        before = log.size
        found.append(pool.submit(store.engine.append, columns_of([(number, "x")])))
        until(lambda before=before: log.size > before)
    return found


@pytest.fixture
def pool(files):
    with ThreadPoolExecutor(8) as threads:
        yield threads
        files.goes_on.set()


def test_threads_share_a_sync_and_see_no_row_before_it(store, files, key, pool):
    files.goes_on.clear()
    syncs = files.syncs
    added = begin(pool, store, files, range(1, 7))
    assert numbers(store) == [0] and not any(one.done() for one in added)
    assert numbers(open_store(files.after_crash("lost"), key)) == [0]
    if key is not None:
        keys = store.key.given([0, 3], "keys")
        assert store.engine.find(keys)[1].found.tolist() == [True, False]
    files.goes_on.set()
    assert [one.result(SECONDS) for one in added] == [1] * 6
    assert files.syncs - syncs == 2  # the first thread's, and one for all others
    assert numbers(store) == list(range(7))
    assert numbers(open_store(files.after_crash("lost"), key)) == list(range(7))
    if key is not None:
        assert store.engine.find(keys)[1].found.all()


def lost_numbers(store, files, key, added):
    """Return the numbers of acknowledged rows that a crash would lose now."""
    sleep(0.05)
    there = numbers(open_store(files.after_crash("lost"), key))
    return [number for number, one in added.items() if one.done() and number not in there]


@pytest.mark.parametrize("is_planted", [False, True])
def test_a_thread_that_does_not_wait_for_the_sync_of_another_is_found(is_planted, store, files, key, pool, monkeypatch):
    """Planted bug: rows are acknowledged before the sync that they share."""
    log = store.engine.folder.log
    if is_planted:
        sync_to = log.sync_to
        monkeypatch.setattr(log, "sync_to", lambda end: None if log._sync_lock.locked() else sync_to(end))
    files.goes_on.clear()
    added = dict(zip(range(1, 5), begin(pool, store, files, range(1, 5)), strict=True))
    assert lost_numbers(store, files, key, added) == ([2, 3, 4] if is_planted else [])
    files.goes_on.set()
    for one in added.values():
        one.result(SECONDS)


@pytest.mark.parametrize("kind", ["remove", "merge", "update", "flush", "long"])
def test_other_changes_come_after_the_rows_that_wait(kind, store, files, key, pool):
    if key is None and kind in ("remove", "update"):
        pytest.skip("it finds rows by key")
    files.goes_on.clear()
    added = begin(pool, store, files, [1, 2, 3])
    engine = store.engine
    calls = {
        "remove": lambda: engine.remove_keys(store.key.given([2], "keys")),
        "update": lambda: engine.update(columns_of([(3, "new")])),
        "merge": engine.merge,
        "flush": engine.flush,
        "long": lambda: engine.append_parts([columns_of([(8, "a")]), columns_of([(9, "b")])]),
    }
    other = pool.submit(calls[kind])
    sleep(0.05)
    assert not other.done() and numbers(store) == [0]
    files.goes_on.set()
    other.result(SECONDS)
    assert [one.result(SECONDS) for one in added] == [1] * 3
    wanted = {"remove": [0, 1, 3], "long": [0, 1, 2, 3, 8, 9]}.get(kind, [0, 1, 2, 3])
    assert numbers(store) == wanted
    assert len(store.state.main.rows) == (4 if kind == "merge" else 0)
    assert numbers(open_store(files.after_crash("lost"), key)) == wanted


def test_a_key_that_waits_for_the_sync_is_present(files, pool):
    store = open_store(files, "n")
    files.goes_on.clear()
    added = begin(pool, store, files, [1, 2])
    with pytest.raises(OptionError, match="the key 2 is in the store"):
        store.engine.append(columns_of([(2, "again")]))
    files.goes_on.set()
    assert [one.result(SECONDS) for one in added] == [1, 1]


def test_a_key_that_waits_for_the_sync_is_replaced(files, pool):
    store = open_store(files, "n, replaced")
    files.goes_on.clear()
    begin(pool, store, files, [1, 2])
    again = pool.submit(store.engine.append, columns_of([(2, "again")]))
    files.goes_on.set()
    assert again.result(SECONDS) == 1
    assert store.state.columns(SCHEMA, Context(threads=1))["city"].to_pylist() == ["x", "again"]


def test_a_sync_that_fails_fails_for_all(store, files, key, pool):
    files.goes_on.clear()
    added = begin(pool, store, files, [1, 2, 3])
    files.fails_with = errno.EIO
    files.goes_on.set()
    for one in added:
        with pytest.raises(OSError, match=r"the disk fails"):  # the first one's own, or in the reason of the others
            one.result(SECONDS)
    assert numbers(store) == [0]
    with pytest.raises(SourceError, match="close the store and open it again"):
        store.engine.append(columns_of([(1, "again")]))
    files.fails_with = None
    store.engine.folder.abandon()
    again = open_store(files, key)
    assert numbers(again) == [0]
    assert again.engine.append(columns_of([(1, "again")])) == 1


def test_a_merge_does_not_show_rows_whose_sync_has_failed(store, files, key, monkeypatch):
    engine, write_main = store.engine, store.engine.folder.write_main

    def beside_an_append(records):
        files.fails_with = errno.EIO
        with pytest.raises(OSError, match="the disk fails"):
            engine.append(columns_of([(1, "lost")]))
        files.fails_with = None
        write_main(records)

    monkeypatch.setattr(engine.folder, "write_main", beside_an_append)
    with pytest.raises(SourceError, match="takes no more records"):
        engine.merge()
    assert numbers(store) == [0]
    engine.folder.abandon()
    again = open_store(files, key)
    assert numbers(again) == [0]
    assert again.engine.merge() and numbers(again) == [0]


def test_an_interrupt_of_a_thread_that_waits_leaves_its_rows_to_the_next_sync(files, monkeypatch):
    store = open_store(files, "n")
    log, sync_to = store.engine.folder.log, store.engine.folder.log.sync_to

    def interrupted(end):
        monkeypatch.setattr(log, "sync_to", sync_to)
        raise KeyboardInterrupt

    monkeypatch.setattr(log, "sync_to", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.engine.append(columns_of([(1, "x")]))
    assert numbers(store) == []
    assert store.engine.append(columns_of([(2, "y")])) == 1
    assert numbers(store) == numbers(open_store(files.after_crash("lost"), "n")) == [1, 2]


def test_a_full_disk_beside_a_sync_keeps_the_rows_that_wait(store, files, key, pool):
    files.goes_on.clear()
    added = begin(pool, store, files, [1])
    files.fail_at, files.fails = files.operations + 1, 1
    failing = pool.submit(store.engine.append, columns_of([(2, "x")]))
    until(lambda: files.operations >= files.fail_at)
    files.goes_on.set()
    with pytest.raises(OSError, match="No space left"):
        failing.result(SECONDS)
    assert added[0].result(SECONDS) == 1
    assert store.engine.append(columns_of([(3, "x")])) == 1
    assert numbers(store) == numbers(open_store(files.after_crash("lost"), key)) == [0, 1, 3]
