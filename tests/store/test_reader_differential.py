"""Tests a reader that reads the files again: its rows are those of a new reader, and unchanged columns are kept."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from headrace import SourceError, Store, col
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.store.files.folder import read_content
from headrace.store.keys.store_key import StoreKey
from headrace.store.reader import StoreReader
from tests.store.engine_cases import SCHEMA, columns_of, open_store
from tests.store.files.crash_cases import CrashFiles, OpenFile
from tests.tiers import seeds

pytest.importorskip("pyarrow")


def changed(store, random, number):
    """Change a store at random; return whether a reader must begin anew."""
    kind = ["append", "append", "parts", "update", "delete", "assign", "merge", "alter"][random.integers(0, 8)]
    rows = {int(key): f"city {number}" for key in random.integers(0, 60, random.integers(1, 9))}
    if kind == "append":
        store.append(b"n,city\n" + b"".join(b"%d,%s\n" % (key, city.encode()) for key, city in rows.items()))
    elif kind == "parts":
        store._opened.engine.append_parts(columns_of([row]) for row in (*rows.items(), *rows.items()))
    elif kind == "update" and len(store):
        store.update(store.table().head(2))
    elif kind == "delete":
        store.delete(list(rows) if store.key == "n" else [(city, key) for key, city in rows.items()])
    elif kind == "assign" and store.key == "n":
        store.update(where=col("n") < 20, values={"city": "south"})
    elif kind == "merge":
        return store.merge()
    elif kind == "alter":
        store.alter(add={"x": "int8"})
        store.alter(drop="x")
        return True
    return False


@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("key", ["n", "city"])
def test_a_reader_follows_changes(seed, key, tmp_path):
    random = np.random.default_rng(seed)
    store = Store(tmp_path / "s", schema=SCHEMA, key="n" if key == "n" else ["city", "n"], on_duplicate="replace")
    store.append(b"n,city\n1,Rome\n")
    with store, Store(tmp_path / "s", read_only=True) as reader:
        wanted = [(f"city {number}", n) for number in range(30) for n in range(0, 60, 7)] if key == "city" else list(range(60))
        reader.lookup(wanted)
        for number in range(30):
            before, old = reader._opened.rows._rows, reader.snapshot()
            rows = old.table().to_pylist()
            is_new = sum(changed(store, random, number) for _ in range(random.integers(0, 4))) > 0
            reader.refresh()
            assert (reader._opened.rows._rows is before) is not is_new
            with Store(tmp_path / "s", read_only=True) as other:
                assert reader.table().equals(other.table())
                found, expected = reader.lookup(wanted), other.lookup(wanted)
                assert (found.found == expected.found).all()
                assert found.rows.equals(expected.rows)
                if key == "n":
                    assert reader.range(5, 40).equals(other.range(5, 40))
            assert old.table().to_pylist() == rows


def reader_of(files):
    key, context = StoreKey({"n": open_store(CrashFiles()).state.schema["n"]}, Context(threads=1)), Context(threads=1)
    return StoreReader(files, "store", read_content(files, "store"), key, context)


def rows_of(reader):
    return [column.to_pylist() for column in reader.state.columns(SCHEMA, Context(threads=1)).values()]


def image_of(rows):
    """Return the files of a store to which rows were appended, one after another."""
    files = CrashFiles()
    engine = open_store(files).engine
    for row in rows:
        engine.append(columns_of([row]))
    return files


def test_a_record_that_took_the_place_of_another_one():
    """A sync has failed, and the writer that opens the store again has removed the records that a reader had read."""
    first = [(1, "a"), (2, "b"), (3, "c")]
    files = image_of(first)
    reader = reader_of(files)
    for rows in ([(1, "a"), (4, "d"), (3, "c"), (5, "e")], first, first[:1]):
        files.names_now = image_of(rows).names_now
        begun = reader._rows
        reader.refresh()
        assert rows_of(reader) == [list(column) for column in zip(*rows, strict=True)]
        assert reader._rows is not begun


def test_another_store_in_the_folder(tmp_path):
    for path, key in (("s", "n"), ("t", "city")):
        Store(tmp_path / path, schema=SCHEMA, key=key).close()
    reader = Store(tmp_path / "s", read_only=True)
    (tmp_path / "s" / "manifest").write_bytes((tmp_path / "t" / "manifest").read_bytes())
    with pytest.raises(SourceError, match="another store now, whose key differs"):
        reader.refresh()


class WatchedFiles(CrashFiles):
    """Notes the memory of the log that was read last."""

    def open_read(self, name):
        file = OpenFile(self.names_now[name])
        if name.startswith("log"):
            self.memory = memory = copy_of(bytes(file.node.data))
            file.read = lambda begin, nbytes: memoryview(memory)[begin : begin + nbytes]
        return file

    def has(self, buffer):
        return self.memory.address <= buffer.address < self.memory.address + self.memory.nbytes


def test_new_rows_do_not_keep_the_memory_of_the_whole_log():
    files = WatchedFiles({name: node.data for name, node in image_of([(1, "a")]).names_now.items()})
    engine, reader = open_store(files).engine, reader_of(files)
    assert files.has(next(iter(reader.state.added)).columns["n"].values)
    for number in range(2, 5):
        engine.append(columns_of([(number, "b")]))
        reader.refresh()
        assert not any(files.has(change.columns["n"].values) for change in reader.state.added)
    assert rows_of(reader) == [[1, 2, 3, 4], ["a", "b", "b", "b"]]


def test_threads_that_refresh_and_read(tmp_path):
    store = Store(tmp_path / "s", schema=SCHEMA, key="n", sync="never", merge_rows=200)
    reader, is_written = Store(tmp_path / "s", read_only=True), threading.Event()

    def follow():
        last = 0
        while not is_written.is_set():
            reader.refresh()
            count = len(reader)
            found = reader.lookup(list(range(max(count - 3, 0), count)))
            assert found.found.all()
            assert found.rows["city"].to_pylist() == [str(n) for n in found.rows["n"].to_pylist()]
            assert last <= count
            last = count

    with ThreadPoolExecutor(3) as pool:
        followers = [pool.submit(follow) for _ in range(3)]
        try:
            for number in range(600):
                store.append(b"n,city\n%d,%d\n" % (number, number))
        finally:
            is_written.set()
        for follower in followers:
            follower.result()
    store.close()
    reader.refresh()
    assert len(reader) == 600
