"""Tests a store in a process that is forked from its writer."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import ExitStack

import pytest

from headrace import OptionError, SourceError, Store

SCHEMA = {"n": "int64", "t": "string"}


def in_a_fork(call):
    """Return the exit status of a forked process that makes a call: 0 if it returns True."""
    child = os.fork()
    if not child:
        try:
            os._exit(0 if call() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_process_does_not_write(tmp_path):
    store = Store(tmp_path / "s", schema=SCHEMA, key="n")
    store.append(b"n,t\n1,a\n")

    def child():
        for change in (lambda: store.append(b"n,t\n2,b\n"), lambda: store.delete(1), store.merge, store.flush):
            with pytest.raises(OptionError, match="opened before this process was forked"):
                change()
        store.close()
        return store.table().to_pydict() == {"n": [1], "t": ["a"]}

    assert in_a_fork(child) == 0
    with pytest.raises(SourceError, match="is open for writing elsewhere"):
        Store(tmp_path / "s")
    assert store.append(b"n,t\n3,c\n") == 1
    store.close()
    assert Store(tmp_path / "s", read_only=True).table().to_pydict() == {"n": [1, 3], "t": ["a", "c"]}


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_a_process_that_is_forked_while_threads_hold_locks(place, tmp_path):
    """No thread of the parent is in the child to release them, and the index may be half changed."""
    store = Store(None if place == "memory" else tmp_path / "s", schema=SCHEMA, key="n")
    store.append(b"n,t\n1,a\n2,b\n")
    store.merge()
    if place == "folder":
        store.close()
        store = Store(tmp_path / "s", key="n")
    assert store.lookup([2, 3]).found.tolist() == [True, False]
    engine, reader, snapshot = store._opened.engine, store._opened.state.main.reader("t"), store.snapshot()
    held = [engine._write_lock, engine._merge_lock, engine._rows._lock, snapshot._lock]
    held += [reader._lock] if place == "folder" else []
    is_held, is_forked = threading.Event(), threading.Event()

    def hold():
        with ExitStack() as stack:
            for lock in held:
                stack.enter_context(lock)
            is_held.set()
            is_forked.wait()

    def child():
        signal.alarm(20)
        if place == "memory":
            assert store.append(b"n,t\n3,c\n") == 1 and store.merge()
        else:
            with pytest.raises(OptionError, match="opened before this process was forked"):
                store.append(b"n,t\n3,c\n")
        assert store.lookup([2, 3]).found.tolist() == [True, place == "memory"]
        assert snapshot.range(1, 9)["t"].to_pylist() == ["a", "b"] == snapshot.lookup([1, 2]).rows["t"].to_pylist()
        return len(store.table()) == (3 if place == "memory" else 2)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        is_held.wait()
        assert in_a_fork(child) == 0
    finally:
        is_forked.set()
        thread.join()
    assert store.lookup([2]).rows["t"].to_pylist() == ["b"]
    store.close()


def test_a_forked_process_does_not_hold_the_lock(tmp_path):
    store = Store(tmp_path / "s", schema=SCHEMA)
    wait, go_on = os.pipe()
    child = os.fork()
    if not child:
        os.read(wait, 1)
        os._exit(0)
    try:
        store.close()
        with Store(tmp_path / "s") as store:
            assert store.append(b"n,t\n1,a\n") == 1
    finally:
        os.write(go_on, b"x")
        os.waitpid(child, 0)
        os.close(wait)
        os.close(go_on)
