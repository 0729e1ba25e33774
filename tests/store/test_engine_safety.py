"""Crashes a store and fills its disk in every operation of a history of changes and merges: no acknowledged row is lost."""

from __future__ import annotations

import threading
import time

import pytest

from headrace import col
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.store.assignment import assignment
from headrace.store.files.log import SyncPolicy
from headrace.store.opening import Source, StoreRequest, opened, selection
from headrace.store.triggers import MergeTriggers
from tests.store.engine_cases import SCHEMA, columns_of, open_store
from tests.store.files.crash_cases import FORMS, Crashed, CrashFiles

CHANGES = [
    ("append", [(1, "Rome"), (2, "Oslo"), (3, None)]),
    ("append", [(4, "Bonn")]),
    ("merge", None),
    ("remove", [2, 4]),
    ("append", [(2, "Paris")]),
    ("update", [(1, "Turin")]),
    ("assign", (3, "Lima")),
    ("merge", None),
    ("append", [(9, "Rome")]),
    ("remove", [3]),
]
PARTS = [
    ("append", [(1, "Rome")]),
    ("parts", [(2, "Oslo"), (3, None), (4, "Bonn")]),
    ("merge", None),
    ("parts", [(5, "Paris"), (6, "Lima")]),
    ("append", [(7, "Kyiv")]),
    ("merge", None),
]
PARTS_OF_KEYS = [
    ("append", [(1, "Rome"), (2, "Oslo")]),
    ("parts", [(2, "Bonn"), (3, None), (2, "Paris"), (4, "Lima")]),
    ("merge", None),
    ("parts", [(1, "Turin"), (3, "Kyiv"), (3, "Bern")]),
    ("remove", [4]),
]
HISTORIES = {"n": CHANGES, None: PARTS, "n, replaced": PARTS_OF_KEYS}
"""Changes by the key of the store and its policy, as `open_store` takes them."""


def rows_of(store):
    columns = store.state.columns(SCHEMA, Context(threads=1))
    return sorted(zip(*(column.to_pylist() for column in columns.values()), strict=True))


def apply_to_model(rows, change):
    """Return the rows of a model after a change."""
    kind, given = change
    if kind == "remove":
        return {key: city for key, city in rows.items() if key not in given}
    if kind == "assign":
        limit, city = given
        return {key: city if key < limit else old for key, old in rows.items()}
    return {**rows, **dict(given)} if given else rows


def apply_to_store(engine, change):
    kind, given = change
    if kind == "merge":
        engine.merge()
    elif kind == "remove":
        import numpy as np

        engine.remove_keys(np.array(given))
    elif kind == "assign":
        limit, city = given
        context = Context(threads=1)
        selected = selection(col("n") < limit, engine.state.schema, context)
        engine.update_where(selected, assignment({"city": city}, engine.state.schema, context))
    elif kind == "parts":
        engine.append_parts(columns_of([row]) for row in given)
    elif kind == "append":
        engine.append(columns_of(given))
    else:
        engine.update(columns_of(given))


def run(files, key):
    """Run all changes of a history; return rows after the acknowledged ones, and after the one that did not end."""
    acknowledged = attempted = {}
    try:
        engine = open_store(files, key).engine
        for change in HISTORIES[key]:
            attempted = apply_to_model(acknowledged, change)
            apply_to_store(engine, change)
            acknowledged = attempted
        engine.close()
    except Crashed:
        pass
    return acknowledged, attempted


def total_operations(key):
    files = CrashFiles()
    run(files, key)
    return files.operations


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("key", HISTORIES, ids=str)
def test_a_crash_in_every_operation(form, every, key):
    for number in range(1 + FORMS.index(form) % every, total_operations(key) + 1, every):
        files = CrashFiles(crash_at=number)
        acknowledged, attempted = run(files, key)
        after = files.after_crash(form)
        if "manifest" not in after.names():
            assert acknowledged == {}
            continue
        store = open_store(after, key)
        assert rows_of(store) in (sorted(acknowledged.items()), sorted(attempted.items())), number
        before = rows_of(store)
        store.engine.append(columns_of([(77, "after")]))
        store.engine.merge()
        store.engine.close()
        assert rows_of(open_store(after, key)) == [*before, (77, "after")]


@pytest.mark.parametrize("fails", [1, 3])
@pytest.mark.parametrize("key", HISTORIES, ids=str)
def test_a_full_disk_in_every_operation(fails, key):
    """A change that fails changes nothing. The store goes on, or says that it must be opened again."""
    for number in range(10 + fails, total_operations(key) + 1, 4):
        files = CrashFiles(fail_at=number, fails=fails)
        engine, rows = open_store(files, key).engine, {}
        for change in HISTORIES[key]:
            try:
                apply_to_store(engine, change)
                rows = apply_to_model(rows, change)
            except OptionError:
                assert change[0] in ("append", "update")  # an earlier change was refused
            except OSError:
                pass
        assert rows_of(engine) == sorted(rows.items())
        files.fail_at = None
        engine.folder.abandon()
        assert rows_of(open_store(files, key)) == sorted(rows.items()), number


def merging_engine(files, clock=time.monotonic):
    """Return the engine of a store that a change of the fourth row merges in another thread."""
    context = Context(threads=1)
    source = Source("store", files, SyncPolicy(), MergeTriggers(rows=4, clock=clock), context, context)
    engine = opened(source, StoreRequest.of(SCHEMA, "n", "raise", is_read_only=False)).engine
    engine.append(columns_of([(1, "a"), (2, "b")]))
    return engine


def test_an_error_of_a_merge_in_a_thread_is_raised_later():
    files = CrashFiles()
    engine = merging_engine(files)
    files.fail_at, files.fails = files.operations + 5, 1
    engine.append(columns_of([(3, "c"), (4, "d")]))
    with pytest.raises(OSError, match="No space left"):
        engine.wait_for_merge()
    assert engine.merge()
    assert rows_of(engine) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_a_merge_in_a_thread_that_failed_is_tried_again_a_minute_later():
    files, seconds = CrashFiles(), 0.0
    engine = merging_engine(files, lambda: seconds)
    files.fail_at, files.fails = files.operations + 5, 1
    for number in (3, 4, 5):
        engine.append(columns_of([(number, None)]))
        if engine._merge_thread._thread is not None:
            engine._merge_thread._thread.join()
        assert (engine.merge_count, engine.merge_error is None) == (0, number == 3)
        seconds += 29.0
    assert seconds == 87.0  # the merge failed at 29
    seconds = 90.0
    engine.append(columns_of([(6, None)]))
    engine.wait_for_merge()
    assert (engine.merge_count, engine.merge_error, engine.state.delta_rows) == (1, None, 0)


@pytest.mark.parametrize("has_failed", [False, True])
def test_a_merge_that_begins_while_a_store_is_closed(has_failed):
    """It is left out; if it has failed before the end, that is an error of the call."""
    engine, errors = merging_engine(CrashFiles()), []

    def close():
        try:
            engine.close()
        except OSError as error:
            errors.append(str(error))

    closing = threading.Thread(target=close)
    with engine._write_lock:
        closing.start()
        while not engine._merge_lock.locked():  # it has waited for merges before
            time.sleep(0.001)
        if has_failed:
            engine._merge_thread.error = OSError("the disk is full")
        else:
            engine.append(columns_of([(3, "c"), (4, "d")]))
    closing.join()
    engine.wait_for_merge()
    assert errors == ["the disk is full"] * has_failed
    assert engine.merge_count == 0
