"""Tests changes of a store's columns under misuse, beside other threads, and in files that readers have open."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pyarrow as pa
import pytest

import headrace
from headrace import OptionError, Store, UnknownColumnError, col
from headrace.api.store.rows import TextParts
from headrace.core.context import Context
from headrace.store.assignment import assignment
from headrace.store.opening import selection

SCHEMA = {"n": "int64", "t": "string", "x": "int32"}
ROWS = b"n,t,x\n1,a,5\n2,b,6\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"alter\(\) needs add=, drop=, rename= or widen="),
        ({"drop": []}, "alter"),
        ({"drop": 5}, "drop must be the name of a column"),
        ({"drop": "n"}, "drop has 'n', a column of the key"),
        ({"rename": {"n": "m"}}, "rename has 'n', a column of the key"),
        ({"widen": {"n": "float64"}}, "widen has 'n', a column of the key"),
        ({"drop": ["y"]}, "drop has 'y', and the store has no such column"),
        ({"drop": [["t"]]}, "drop has"),
        ({"rename": {"tt": "u"}}, "did you mean 't'"),
        ({"rename": {"t": 5}}, "rename must be a mapping of names to names"),
        ({"rename": {"t": "x"}}, "two columns the same name"),
        ({"rename": {"t": "a\0b"}}, "a store takes no name with a zero character"),
        ({"rename": {"t": "u"}, "drop": ["t", "t"]}, "drops a column that it renames or widens"),
        ({"widen": {"x": "int16"}}, "column 'x' is of type int32, and int16 does not have all of its values"),
        ({"widen": {"x": "float32"}}, "float32 does not have all"),
        ({"widen": {"t": "dictionary"}}, "a store encodes columns itself"),
        ({"widen": {"x": "int46"}}, "did you mean"),
        ({"widen": ["x"]}, "widen must be a mapping"),
        ({"add": {"t": "int8"}}, "two columns the same name"),
        ({"add": {"u": "int8"}, "defaults": {"u": 300}}, "defaults of 'u': int8 does not have the value 300"),
        ({"add": {"u": "int8"}, "defaults": {"v": 3}}, "defaults has 'v', and add has no such column"),
        ({"add": "u"}, "add must be a mapping"),
    ],
)
def test_changes_that_are_refused(options, message):
    store = Store(schema=SCHEMA, key="n")
    store.append(ROWS)
    with pytest.raises((OptionError, UnknownColumnError), match=message):
        store.alter(**options)
    assert store.schema == SCHEMA and store.table().to_pydict() == {"n": [1, 2], "t": ["a", "b"], "x": [5, 6]}


def test_a_column_remains_in_any_case():
    store = Store(schema={"t": "string"})
    with pytest.raises(OptionError, match="schema must be a mapping of names"):
        store.alter(drop="t")
    store.alter(drop="t", add={"u": "int8"})
    assert store.schema == {"u": "int8"}


def test_a_reader_keeps_its_columns_until_it_reads_again(tmp_path):
    with Store(tmp_path, schema=SCHEMA, key="n") as store:
        store.append(ROWS)
        with Store(tmp_path, read_only=True) as reader:
            with pytest.raises(OptionError, match=r"alter\(\) changes the store, which is open with read_only=True"):
                reader.alter(drop="t")
            store.alter(drop="t", rename={"x": "y"})
            store.merge()
            assert reader.schema == SCHEMA and reader.table()["x"].to_pylist() == [5, 6]
            reader.refresh()
            assert reader.schema == {"n": "int64", "y": "int32"} and reader.lookup(2).rows.to_pylist() == [{"n": 2, "y": 6}]
    with pytest.raises(OptionError, match=r"has other columns than schema: \{'n': 'int64', 'y': 'int32'\}"):
        Store(tmp_path, schema=SCHEMA)
    Store(tmp_path, schema={"n": "int64", "y": "int32"}).close()


def stale(store):
    """Return changes that were prepared with the columns of a store, each as a function that makes it."""
    engine, context = store._opened.engine, Context(threads=1)
    schema = engine.state.schema
    rows = headrace.read_csv(b"n,t,x\n3,c,7\n", dtypes=SCHEMA).columns
    parts = TextParts(headrace.scan_csv(b"n,t,x\n4,d,8\n", dtypes=SCHEMA), schema, context).columns
    selected, assigned = selection(col("x") > 5, schema, context), assignment({"t": "z"}, schema, context)
    return {
        "append": lambda: engine.append(rows),
        "append_parts": lambda: engine.append_parts(parts()),
        "update": lambda: engine.update({"n": store.table()["n"], "x": store.table()["x"][:2]}),
        "update_old": lambda: engine.update({name: column for name, column in rows.items() if name != "t"}),
        "update_where": lambda: engine.update_where(selected, assigned),
        "remove_where": lambda: engine.remove_where(selected),
    }


@pytest.mark.parametrize("path", [None, "store"])
@pytest.mark.parametrize("change", ["append", "append_parts", "update_old"])
@pytest.mark.parametrize("options", [{"widen": {"x": "int64"}}, {"rename": {"x": "y"}}])
def test_rows_that_were_read_for_other_columns_are_refused(change, options, path, tmp_path):
    store = Store(path and tmp_path / path, schema=SCHEMA, key="n")
    store.append(ROWS)
    make = stale(store)[change]
    store.alter(**options)
    with pytest.raises(OptionError, match="the columns of the store were changed while the rows were read; repeat the call"):
        make()
    assert len(store) == 2 and store.append(store.table().filter(col("n") > 5)) == 0
    store.close()


def test_a_condition_reads_the_present_columns():
    store = Store(schema=SCHEMA, key="n")
    store.append(ROWS)
    changes = stale(store)
    store.alter(widen={"x": "float64"})
    assert changes["update_where"]() == 1 and store.lookup(2).rows.to_pylist() == [{"n": 2, "t": "z", "x": 6.0}]
    assert changes["remove_where"]() == 1 and store.table()["n"].to_pylist() == [1]
    store.append(b"n,t,x\n2,b,9\n")
    store.alter(drop="t")
    with pytest.raises(UnknownColumnError, match="values has 't', and the store has no such column"):
        changes["update_where"]()
    store.alter(rename={"x": "y"})
    with pytest.raises(UnknownColumnError, match="x"):
        changes["remove_where"]()
    assert len(store) == 2


def test_changes_of_columns_beside_appends_reads_and_merges(tmp_path):
    """Threads append and merge while columns come and go; each row is there once, and each read has one schema."""
    store = Store(tmp_path, schema={"n": "int64"}, key="n", sync="never", merge_rows=50)
    stop, added = threading.Event(), set()

    def append(first):
        number = first
        while not stop.is_set():
            columns = {name: pa.array([number], pa.int64()) for name in store.schema}
            with suppress(OptionError, UnknownColumnError):  # the columns were changed in between
                store.append(pa.table(columns))
                added.add(number)
                number += 2

    def read():
        while not stop.is_set():
            snapshot = store.snapshot()
            table, found = snapshot.table(), store.lookup([0, 1])
            assert list(table.schema) == list(snapshot.schema) and found.rows.num_rows == found.found.sum()

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(append, 0), pool.submit(append, 1), pool.submit(read)]
        for number in range(30):
            store.alter(add={f"c{number}": "int64"}, drop=[name for name in store.schema if name != "n"])
            count = len(added)
            while len(added) == count and not any(one.done() for one in running):
                time.sleep(0.001)
        stop.set()
        for one in running:
            one.result()
    store.close()
    again = Store(tmp_path)
    assert added and sorted(again.table()["n"].to_pylist()) == sorted(added) and list(again.schema) == ["n", "c29"]
    again.close()
