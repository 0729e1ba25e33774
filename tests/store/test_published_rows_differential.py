"""Look-ups while the index takes a change in pieces give the rows of the state that they return, and no others."""

from __future__ import annotations

import dis
import random
import sys
import threading

import numpy as np
import pytest

from headrace import HashMap, MemoryLimitError, read_csv
from headrace.columns.types import parse_type
from headrace.core.context import Context
from headrace.store.change import Change
from headrace.store.keys.store_key import StoreKey
from headrace.store.main import Main
from headrace.store.published_rows import PublishedRows
from headrace.store.state import StoreState
from tests.store.interrupt_cases import is_interrupted

CONTEXT = Context(threads=1)
NAMES = {"int64": "n", "string": "t"}
KEYS = 60


def columns_of(values):
    """Return a column of numbers, and one of texts with the same digits."""
    types = {"n": "int64", "t": "string"}
    return read_csv("".join(f"{n},{n}\n" for n in values).encode(), header=False, names=list(types), dtypes=types).columns


class Changes:
    """Draws changes of rows with distinct keys, and publishes them."""

    def __init__(self, type_, draw):
        schema = {"n": parse_type("int64"), "t": parse_type("string")}
        self.key = StoreKey({NAMES[type_]: schema[NAMES[type_]]}, CONTEXT)
        self.rows = PublishedRows(StoreState(schema, Main.empty(schema)), self.key, CONTEXT, piece_rows=3)
        self.draw, self.numbers, self.next_row = draw, {}, 0
        self.wanted = self.key.given(list(range(KEYS)) if type_ == "int64" else list(map(str, range(KEYS))), "keys")

    def part(self, removed):
        """Return a change of rows, which replace those with the same keys."""
        values = self.draw.sample(range(KEYS), self.draw.randrange(KEYS // 2))
        removed += [self.numbers[value] for value in values if value in self.numbers]
        self.numbers |= {value: self.next_row + place for place, value in enumerate(values)}
        change = Change(self.next_row, np.empty(0, np.uint64), columns_of(values))
        self.next_row += change.length
        return change

    def publish(self):
        gone = self.draw.sample(sorted(self.numbers), self.draw.randrange(len(self.numbers) + 1) // 2)
        removed = [self.numbers.pop(value) for value in gone]
        parts = [change for change in (self.part(removed) for _ in range(self.draw.randrange(3))) if change.length]
        gone, after = np.array(sorted(removed), np.uint64), self.rows.state
        for change in (*parts, Change(self.next_row, gone, {})):
            after = after.after(change)
        self.rows.publish(after, gone, parts)
        if self.draw.random() < 0.8:
            self.rows.note()

    def write(self):
        """Write rows with new keys; show them and later ones in any order, such as threads that share a sync do."""
        written = []
        for _ in range(self.draw.randrange(4)):
            absent = sorted(set(range(KEYS)) - self.numbers.keys())
            values = self.draw.sample(absent, min(len(absent), self.draw.randint(1, 3)))
            if values:
                change = Change(self.next_row, np.empty(0, np.uint64), columns_of(values))
                assert self.rows.takes_writes(change)
                self.numbers |= {value: self.next_row + place for place, value in enumerate(values)}
                self.next_row += change.length
                written.append(self.rows.write(change))
            if self.draw.random() < 0.5:
                found = self.rows.find_written(self.wanted)
                assert {place: int(found.numbers[place]) for place in np.flatnonzero(found.found)} == self.numbers
            if written and self.draw.random() < 0.5:
                self.rows.show(self.draw.choice(written))
        if self.draw.random() < 0.5:
            for rows in self.draw.sample(written, len(written)):
                self.rows.show(rows)
            assert self.rows.state is self.rows.written
        self.rows.show_all()

    def check(self):
        """Compare a look-up with the keys of the state that it returns."""
        state, found = self.rows.find(self.wanted)
        expected = dict(zip(state.columns(["n"], CONTEXT)["n"].to_pylist(), state.row_numbers.tolist(), strict=True))
        assert {place: int(found.numbers[place]) for place in np.flatnonzero(found.found)} == expected
        return state


@pytest.mark.parametrize("type_", NAMES)
def test_look_ups_beside_changes(type_, request):
    changes = Changes(type_, random.Random(request.node.name))
    faults, done = [], threading.Event()

    def read():
        last = 0
        try:
            while not done.is_set():
                state = changes.check()
                count = len(state.added) + len(state.removed)
                assert count >= last, "a look-up sees an earlier state than the one before it"
                last = count
        except BaseException as error:  # noqa: BLE001  reported by the test
            faults.append(repr(error))

    changes.check()
    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    try:
        for _ in range(150):
            changes.publish()
            changes.write()
    finally:
        done.set()
        for thread in readers:
            thread.join()
    assert faults == []
    changes.check()


def test_an_index_that_failed_is_built_again(request, monkeypatch):
    draw = random.Random(request.node.name)
    changes = Changes("int64", draw)
    insert, calls = HashMap.insert, []

    def refuse(self, *given):
        calls.append(given)
        if draw.random() < 0.2:
            raise MemoryLimitError("no memory")
        return insert(self, *given)

    for _ in range(100):
        changes.check()
        with monkeypatch.context() as patch:
            patch.setattr(HashMap, "insert", refuse)
            changes.publish()
        changes.write()
    changes.check()
    assert len(calls) > 100


class WatchedKeys(np.ndarray):
    """Keys that call a function before they are cut into pieces."""

    watch = None

    def __getitem__(self, places):
        watch, WatchedKeys.watch = WatchedKeys.watch, None
        if watch is not None:
            watch()
        return super().__getitem__(places)


class WatchedKey(StoreKey):
    def of(self, columns):
        return super().of(columns).view(WatchedKeys)


def test_a_look_up_that_is_interrupted_beside_a_change(request):
    changes = Changes("int64", random.Random(request.node.name))
    changes.key = WatchedKey({"n": parse_type("int64")}, CONTEXT)
    state = changes.rows.state
    changes.rows = PublishedRows(state, changes.key, CONTEXT, piece_rows=3)
    changes.check()

    def trace(frame, event, argument):
        if frame.f_code.co_name == "_note" and frame.f_locals.get("unnoted") == []:
            raise KeyboardInterrupt
        return trace

    def look_up_twice():
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with pytest.raises(KeyboardInterrupt):
                changes.check()
        finally:
            sys.settrace(before)
        changes.check()

    change = Change(0, np.empty(0, np.uint64), columns_of(range(10)))
    WatchedKeys.watch = look_up_twice
    changes.rows.publish(state.after(change), change.removed, [change])
    assert WatchedKeys.watch is None
    changes.check()


def interrupted_after(number, call):
    """Call a function, with KeyboardInterrupt after the call of this number in the module; return whether it came.

    Python looks for interrupts after calls, but not when a block has taken a lock.
    """
    left, opcodes = [number], {}

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith("published_rows.py"):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            before = opcodes.setdefault(frame, ["", ""])
            if before[1].startswith("CALL") and before[0] != "LOAD_SPECIAL":
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
            opcodes[frame] = [before[1], dis.opname[frame.f_code.co_code[frame.f_lasti]]]
        return trace

    return is_interrupted(call, trace)


@pytest.mark.parametrize("type_", NAMES)
@pytest.mark.parametrize("call", ["publish", "write"])
def test_an_interrupt_after_any_call_of_a_change(call, type_, request):
    """Look-ups have the rows of the state, whether it has the change or not, and the next changes are made."""
    goes_on, number = True, 0
    while goes_on:
        number += 1
        changes = Changes(type_, random.Random(request.node.name))
        for _ in range(6):
            changes.publish()
        changes.check()
        next_row, before = changes.next_row, changes.rows.state
        small = Change(next_row, np.empty(0, np.uint64), columns_of([KEYS, KEYS + 1]))
        gone = np.array(sorted(changes.numbers.values())[:4], np.uint64)
        large = Change(next_row, gone, columns_of(range(KEYS, KEYS + 9)))
        change = small if call == "write" else large
        changes.wanted = changes.key.given([str(n) if type_ == "string" else n for n in range(KEYS + 21)], "keys")

        def make(changes=changes, before=before, change=change):
            if change.length == 2:
                changes.rows.show(changes.rows.write(change))
            else:
                changes.rows.publish(before.after(change), change.removed, [change])

        goes_on = interrupted_after(number, make)
        assert changes.check() in (before, changes.rows.state)
        rest = Change(next_row + 9, np.empty(0, np.uint64), columns_of([KEYS + 20]))
        changes.rows.show_all()
        changes.rows.publish(changes.rows.state.after(rest), rest.removed, [rest])
        changes.check()
    assert number > 5
