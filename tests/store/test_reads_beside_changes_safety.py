"""Reads while changes and merges go on: look-ups wait for no file, and all answers are those of one order of the calls."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

from headrace import Store
from tests.store.engine_cases import columns_of, open_store
from tests.store.files.crash_cases import CrashFiles
from tests.store.interrupt_cases import is_interrupted


class WatchedFiles(CrashFiles):
    """A file system that calls a function in each operation."""

    def __init__(self):
        super().__init__()
        self.watch = None

    def step(self, is_write=True):
        if self.watch is not None:
            self.watch()
        return super().step(is_write)


def test_look_ups_wait_for_no_operation_of_files():
    files = WatchedFiles()
    engine = open_store(files, "n, replaced").engine
    engine.append(columns_of([(1, "Rome")]))
    seen = []

    def look():
        state, found = engine.find(np.array([1, 2]))
        seen.append((state.num_rows, found.found.tolist()))

    def watch():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join(30)
        assert not thread.is_alive(), "a look-up waits for an operation of files"

    files.watch = watch
    one, both = (1, [True, False]), (2, [True, True])
    for change, expected in (
        (lambda: engine.append(columns_of([(2, "Oslo")])), one),
        (engine.merge, both),
        (lambda: engine.append_parts(iter([columns_of([(1, "Bonn")]), columns_of([(1, "Bern")])])), both),
        (lambda: engine.update(columns_of([(2, "Lima")])), both),
        (engine.merge, both),
        (lambda: engine.remove_keys(np.array([2])), both),
        (engine.close, one),
    ):
        seen.clear()
        change()
        assert seen
        assert all(found == expected for found in seen)


class SlowFiles(CrashFiles):
    """A file system in which another thread calls `change` during the next removal of a file, or the next sync of one."""

    def __init__(self, slow):
        super().__init__()
        self.slow, self.change = slow, None

    def call_change(self):
        if self.change is not None:
            thread, self.change = threading.Thread(target=self.change), None
            thread.start()
            thread.join(30)
            assert not thread.is_alive(), f"a change waits for a {self.slow}"

    def remove(self, name):
        if self.slow == "removal":
            self.call_change()
        super().remove(name)

    def open_append(self, name):
        file = super().open_append(name)
        sync = file.sync

        def watched_sync():
            self.call_change()
            sync()

        if self.slow == "sync":
            file.sync = watched_sync
        return file


@pytest.mark.parametrize("slow", ["removal", "sync"])
def test_changes_wait_neither_for_removals_nor_for_the_sync_of_a_large_log(slow):
    files = SlowFiles(slow)
    engine = open_store(files, "n", "never").engine
    added = []
    for key in (1, 3, 5):
        engine.append(columns_of([(key, "Rome")]))
        files.change = lambda key=key + 1: added.append(engine.append(columns_of([(key, "Oslo")])))
        assert engine.merge()
    assert added == [1, 1, 1]
    assert len(files.names()) == 3  # a log, a main and the manifest
    engine.close()
    assert open_store(files.after_crash("written"), "n").engine.state.num_rows == 6


class Register:
    """A key whose values one thread writes, ascending: the last one that has begun, and the last one that has ended."""

    def __init__(self, key):
        self.key, self.begun, self.ended = key, 0, 0


def write(store, registers, number):
    """Write the next value of each key in one change."""
    for register in registers:
        register.begun = number
    rows = [(register.key, str(number)) for register in registers]
    if number % 3 or not store._opened.engine.takes_parts:
        store.append(b"n,city\n" + b"".join(b"%d,%s\n" % (key, text.encode()) for key, text in rows))
    else:
        store._opened.engine.append_parts(iter([columns_of([(key, "no value")]) for key, _ in rows] + [columns_of(rows)]))
    for register in registers:
        register.ended = number


READS = {
    "lookup": lambda store, keys: store.lookup(keys).rows["city"].to_pylist(),
    "lookup of a snapshot": lambda store, keys: store.snapshot().lookup(keys).rows["city"].to_pylist(),
    "range": lambda store, keys: store.range(keys[0], keys[-1])["city"].to_pylist(),
    "table": lambda store, keys: [
        text for key, text in sorted(map(tuple, store.table(["n", "city"]).iter_rows())) if key in keys
    ],
}


def read(store, registers, draw, last):
    """Read all keys of a writer, and compare them with the values before the call, those after it, and those of the last read."""
    before = registers[0].ended
    kind = draw.choice(list(READS))
    values = {int(text) for text in READS[kind](store, [register.key for register in registers])}
    assert len(values) == 1, f"{kind}: a change is seen in part: {values}"
    (value,) = values
    assert before <= value <= registers[0].begun, f"{kind}: {value} is not from {before} to {registers[0].begun}"
    assert value >= last, f"{kind}: {value} is seen after {last}"
    return value


@pytest.mark.parametrize("seconds", [1.0, pytest.param(5.0, marks=pytest.mark.long)])
@pytest.mark.parametrize("place", ["memory", "folder"])
def test_answers_are_those_of_one_order(seconds, place, tmp_path, request):
    """Each value that is read was written, is no older than the last one that had been acknowledged, and never goes back."""
    options = {"schema": {"n": "int64", "city": "string"}, "key": "n", "on_duplicate": "replace"}
    store = Store(tmp_path / "s" if place == "folder" else None, **options, sync="never")
    writers = [[Register(10 * number + i) for i in range(3)] for number in range(2)]
    store.append(b"n,city\n" + b"".join(b"%d,0\n" % register.key for registers in writers for register in registers))
    faults, ends = [], time.monotonic() + seconds
    done = threading.Event()

    def guarded(work):
        def run():
            try:
                work()
            except BaseException as error:  # noqa: BLE001  reported by the test
                faults.append(repr(error))

        return threading.Thread(target=run)

    def writing(registers):
        number = 0
        while time.monotonic() < ends or number < 5:
            number += 1
            write(store, registers, number)

    def reading(seed):
        draw, last = random.Random(f"{request.node.name} {seed}"), [0, 0]
        while not done.is_set():
            which = draw.randrange(2)
            last[which] = read(store, writers[which], draw, last[which])

    def merging():
        while not done.is_set():
            store.merge()

    writing_threads = [guarded(lambda registers=registers: writing(registers)) for registers in writers]
    others = [guarded(lambda seed=seed: reading(seed)) for seed in range(3)] + [guarded(merging) for _ in range(2)]
    for thread in [*writing_threads, *others]:
        thread.start()
    for thread in writing_threads:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    assert faults == []
    assert len(store) == 6
    store.close()


@pytest.mark.parametrize("is_broken", [False, True])
def test_other_changes_do_not_wait_for_the_parts_of_one(is_broken):
    """A change that comes while parts are computed is made first, and the parts follow as one change, or none of them."""
    files = CrashFiles()
    engine = open_store(files, "n, replaced").engine
    engine.append(columns_of([(1, "Rome"), (2, "Oslo")]))
    others = [
        threading.Thread(target=lambda: engine.append(columns_of([(3, "Bonn"), (1, "Bern")]))),
        threading.Thread(target=engine.merge),
    ]

    def parts():
        yield columns_of([(4, "Lima")])
        for thread in others:
            thread.start()
        while not engine._waiters.has_others:
            time.sleep(0.001)
        yield columns_of([(3, "Kyiv")])
        for thread in others:
            thread.join(30)
            assert not thread.is_alive(), "a change waits for parts that are computed"
        if is_broken:
            raise ValueError("the text has a fault")
        yield columns_of([(4, "Wien")])

    if is_broken:
        with pytest.raises(ValueError, match="the text has a fault"):
            engine.append_parts(parts())
    else:
        assert engine.append_parts(parts()) == 2
    before = [(2, "Oslo"), (3, "Bonn"), (1, "Bern")]
    expected = before if is_broken else [(2, "Oslo"), (1, "Bern"), (3, "Kyiv"), (4, "Wien")]
    for found in (engine, open_store(files.after_crash("lost"), "n, replaced")):
        rows = found.state.columns(["n", "city"], engine.rules.context)
        assert list(zip(*(column.to_pylist() for column in rows.values()), strict=True)) == expected


def interrupted_at(number, call):
    """Call a function, and raise KeyboardInterrupt in the line of this number that Python runs to take and release the lock."""
    left = [number]

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith("lock_waiters.py"):
            return None
        if event in {"line", "return"}:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return trace

    return is_interrupted(call, trace)


def test_an_interrupt_leaves_no_lock():
    engine = open_store(CrashFiles(), "n, replaced").engine
    numbers = iter(range(1, 100))
    while interrupted_at(next(numbers), lambda: engine.append(columns_of([(1, "Rome")]))):
        other = threading.Thread(target=lambda: engine.append(columns_of([(2, "Oslo")])), daemon=True)
        other.start()
        other.join(30)
        assert not other.is_alive(), "a change waits for one that was interrupted"
    assert next(numbers) > 4
    engine.close()
