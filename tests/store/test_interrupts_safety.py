"""Interrupts changes and merges of a store in each call that handles its files; the store goes on, or says to open it again."""

from __future__ import annotations

from itertools import count

import pytest

import headrace
from headrace import SourceError, Store
from tests.store.interrupt_cases import is_interrupted

FILES = ("store/engine.py", "store/files/log.py", "store/files/folder.py", "store/files/file_system.py")
SCHEMA = {"n": "int64", "t": "string"}
OLD = {1: "a", 2: "b", 3: "c"}


def opened(path):
    return Store(path, schema=SCHEMA, key="n", merge_bytes=None)


def rows_of(store):
    table = store.table()
    found = dict(zip(table["n"].to_pylist(), table["t"].to_pylist(), strict=True))
    assert len(found) == table.num_rows == len(store)
    return found


def append(store):
    store.append(b"n,t\n4,d\n5,e\n")


def update(store):
    store.update(b"n,t\n2,new\n")


def delete(store):
    store.delete([1, 3])


CHANGES = {
    append: {**OLD, 4: "d", 5: "e"},
    update: {**OLD, 2: "new"},
    delete: {2: "b"},
    Store.merge: OLD,
}


def interrupted_in_call(number, call):
    """Call a function, and raise KeyboardInterrupt at the begin or end of a call in `FILES`, that of this number."""
    left = [number]

    def trace(frame, event, argument):
        if event in {"call", "return"} and frame.f_code.co_filename.endswith(FILES):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return trace if event == "call" else None

    return is_interrupted(call, trace)


def is_refused(change):
    """Make a change, and return whether the store says that it must be opened again."""
    try:
        change()
    except SourceError as error:
        return "close the store and open it again" in str(error)
    return False


@pytest.mark.covering(long=2)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)], ids=["third", "each"])
def test_an_interrupt_in_each_call(change, step, tmp_path):
    numbers = count(1, step)
    while is_right_after_interrupt(change, next(numbers), tmp_path):
        pass
    assert next(numbers) > 30


def is_right_after_interrupt(change, number, folder):
    """Interrupt a change, check the store, and return whether the change has a call of this number."""
    path = folder / str(number)
    store = opened(path)
    store.append(headrace.read_csv(b"n,t\n1,a\n2,b\n3,c\n", dtypes=SCHEMA))
    if not interrupted_in_call(number, lambda: change(store)):
        store.close()
        return False
    assert rows_of(store) in (OLD, CHANGES[change])
    is_lost_or_made = is_refused(lambda: store.delete(99))  # changes nothing
    assert is_refused(lambda: store.append(b"n,t\n9,z\n")) == is_lost_or_made
    if not is_lost_or_made:
        assert rows_of(store) in ({**OLD, 9: "z"}, {**CHANGES[change], 9: "z"})
        store.merge()
    found = rows_of(store)
    is_refused(store.close)
    with Store(path) as again:
        assert rows_of(again) == found or (is_lost_or_made and rows_of(again) == CHANGES[change])
        assert again.append(b"n,t\n7,y\n") == 1
    return True
