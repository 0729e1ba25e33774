"""Tests a store under misuse, damage, killed processes and threads."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import headrace
from headrace import Context, OptionError, SourceError, Store, UnknownColumnError, UnsupportedDeviceError, col
from headrace.store.files import file_system
from tests.api.store.store_cases import seeded

SCHEMA = {"n": "int64", "t": "string"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schema": None}, "a store in memory needs schema="),
        ({"schema": {}}, "schema must be a mapping of names"),
        ({"schema": ["n"]}, "schema must be a mapping of names"),
        ({"schema": {"a\0b": "int64"}}, "a store takes no name with a zero character"),
        ({"schema": {"n": "dictionary"}}, "column 'n' of schema is of type dictionary"),
        ({"schema": {"n": "int46"}}, "did you mean 'int64'"),
        ({"key": "m"}, "key is 'm', and schema has no column 'm'"),
        ({"schema": {"n": "float64"}, "key": "n"}, "keys are integers, dates, timestamps or texts"),
        ({"key": 1}, "key must be the name of a column"),
        ({"on_duplicate": "ignore"}, "unknown on_duplicate 'ignore'"),
        ({"sync": "sometimes"}, "unknown sync 'sometimes'"),
        ({"sync_seconds": -1}, "sync_seconds must be"),
        ({"merge_rows": 0}, "merge_rows must be"),
        ({"merge_ratio": 0}, "merge_ratio must be"),
        ({"merge_seconds": "1"}, "merge_seconds must be"),
        ({"read_only": True}, "read_only=True needs the path"),
        ({"context": Context(device="cuda:999")}, "no NVIDIA driver|no GPU 999|finds no GPU"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises((OptionError, SourceError, UnsupportedDeviceError), match=message):
        Store(**{"schema": SCHEMA, **options})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (b"n\n1\n", "no column 't'"),
        (b"n,t,u\n1,x,2\n", "source has the column 'u', and the store does not"),
        (headrace.read_csv(b"n,T\n1,x\n"), "source has the column 'T'"),
        (headrace.read_csv(b"n\n1\n"), "source has no column 't'"),
        (headrace.read_csv(b"n,t\n1.5,x\n"), "column 'n' of source is of type float64, and the store has int64; cast it first"),
        (headrace.read_csv(b"n,t\n1,5\n"), "column 't' of source is of type int64"),
        (b"n,t\n,x\n", r"the key of 1 row is null"),
        (b"n,t\nx,x\n", "expected int64"),
        (5, "source"),
    ],
)
def test_rows_that_are_refused(rows, message):
    store = Store(schema=SCHEMA, key="n")
    store.append(b"n,t\n7,a\n")
    with pytest.raises((OptionError, UnknownColumnError, headrace.ParseError, TypeError), match=message):
        store.append(rows)
    assert store.table().to_pydict() == {"n": [7], "t": ["a"]}
    assert store.append(b"n,t\n8,b\n") == 1


@pytest.mark.parametrize("keys", ["x", 1.5, [1, "x"], [None], [2**70], [True]])
def test_keys_that_are_refused(keys):
    store = Store(schema=SCHEMA, key="n")
    for call in (store.lookup, store.delete, store.snapshot().lookup):
        with pytest.raises(OptionError, match="keys"):
            call(keys)
    with pytest.raises(OptionError, match="low"):
        store.range(keys, 5)


def test_calls_that_a_store_refuses():
    store = Store(schema=SCHEMA)
    for call in (lambda: store.lookup(1), lambda: store.range(1, 2), lambda: store.delete(1), lambda: store.update(b"n\n1\n")):
        with pytest.raises(OptionError, match="the store has none; create it with key="):
            call()
    with pytest.raises(OptionError, match="DuckDB refuses the query"):
        store.sql("select nothing from nowhere")
    with pytest.raises(UnknownColumnError, match="columns has 'm', and the store has no such column"):
        store.table(["m"])
    with pytest.raises(OptionError, match="source is a table"):
        store.append(headrace.read_csv(b"n,t\n1,x\n"), sep=",")
    with pytest.raises(OptionError, match="source is a mapping; polars"):
        store.append({"n": [1]})
    with pytest.raises(OptionError, match="refresh"):
        store.refresh()
    store.close()
    store.close()
    with pytest.raises(OptionError, match="the store is closed"):
        store.append(b"n,t\n1,x\n")
    assert len(store.table()["n"]) == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "values must be a mapping"),
        ([("n", 1)], "values must be a mapping"),
        ({"m": 1}, "values has 'm', and the store has no such column"),
        ({"n": "x"}, "values of 'n': int8 does not have the value 'x'"),
        ({"n": 128}, "int8 does not have the value 128"),
        ({"n": 1.5}, "int8 does not have the value 1.5"),
        ({"n": True}, "int8 does not have the value True"),
        ({"n": col("n") * 100}, "int8 does not have the value 300 of the expression"),
        ({"n": col("n") / 2}, "int8 does not have the values of float64"),
        ({"n": col("t")}, "int8 does not have the values of string"),
        ({"n": col("u")}, "unknown column 'u'"),
        ({"n": col("t") + 1}, "values of 'n': .* takes integers and floats"),
        ({"t": 5}, "string does not have the value 5"),
        ({"t": "\ud800"}, "string does not have the value"),
        ({"t": col("n") > 1}, "string does not have the values of bool"),
        ({"d": "2024-02-30"}, "date32 does not have the value '2024-02-30'"),
        ({"f": 1e300}, r"float32 does not have the value 1e\+300"),
        ({"f": col("f") + 1e300}, r"values of 'f': \+ of float32 does not take 1e\+300"),
        ({"k": None}, r"the key of 3 rows is null"),
        ({"k": 7}, "give two rows the same key"),
        ({"k": col("k") + 1}, "give a row the key 4 of another row"),
    ],
)
def test_values_that_are_refused(values, message):
    store = Store(schema={"k": "int64", "n": "int8", "t": "string", "d": "date32", "f": "float32"}, key="k")
    store.append(b"k,n,t,d,f\n1,1,a,2024-01-01,1\n2,2,b,,\n3,3,c,,\n4,4,d,,\n")
    before = store.table().to_pydict()
    with pytest.raises((OptionError, UnknownColumnError), match=message):
        store.update(where=col("k") < 4, values=values)
    with pytest.raises((OptionError, UnknownColumnError)):
        store.update(where=col("nothing") < 4, values=values)
    assert store.table().to_pydict() == before
    assert store.update(where=col("k") < 4, values={"k": col("k") * -1}) == 3


def test_updates_by_condition_that_are_refused():
    store = Store(schema=SCHEMA)
    for given in (
        {"where": col("n") > 1},
        {"values": {"n": 1}},
        {"where": "n > 1", "values": {"n": 1}},
        {"where": col("t"), "values": {"n": 1}},
    ):
        with pytest.raises(OptionError, match=r"where|values|takes conditions"):
            store.update(**given)
    with pytest.raises(OptionError, match="not both"):
        store.update(b"n\n1\n", where=col("n") > 1, values={"n": 1})
    with pytest.raises(OptionError, match="not both"):
        store.update(where=col("n") > 1, values={"n": 1}, sep=";")
    assert store.update(where=col("n") > 1, values={"n": 1}) == 0


def test_folders_that_are_refused(tmp_path):
    with pytest.raises(SourceError, match=r"has no file 'manifest'; Store\(path, schema=...\) creates one"):
        Store(tmp_path / "none")
    with Store(tmp_path / "s", schema=SCHEMA, key="n"):
        with pytest.raises(SourceError, match="is open for writing elsewhere; open it with read_only=True"):
            Store(tmp_path / "s")
        assert len(Store(tmp_path / "s", read_only=True)) == 0
    with pytest.raises(OptionError, match="has other columns than schema"):
        Store(tmp_path / "s", schema={"n": "int64"})
    with pytest.raises(OptionError, match="has the key 'n', not 't'"):
        Store(tmp_path / "s", key="t")
    with Store(tmp_path / "s", schema=SCHEMA) as store:  # the lock was released by each refusal
        assert store.key == "n"
    (tmp_path / "s" / "manifest").unlink()
    with Store(tmp_path / "s", schema=SCHEMA) as store:  # it has no rows, as after a crash while it was created
        store.append(b"n,t\n1,x\n")
    (tmp_path / "s" / "manifest").unlink()
    with pytest.raises(SourceError, match="files of a store without a manifest"):
        Store(tmp_path / "s", schema=SCHEMA)
    with pytest.raises(SourceError, match="files of a store without a manifest; restore that file"):
        Store(tmp_path / "s", read_only=True)


def test_a_store_is_no_file(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file", tmp_path / "file" / "s"):
        with pytest.raises(SourceError, match="it is, or is in, a file; name a folder"):
            Store(path, schema=SCHEMA)


def test_each_new_folder_of_a_path_is_synced(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.readlink(f"/proc/self/fd/{number}")))
    file_system.HostFiles(str(tmp_path / "a" / "b" / "s")).make_folder()
    assert (tmp_path / "a" / "b" / "s").is_dir()
    assert sorted(synced) == [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")]
    synced.clear()
    file_system.HostFiles(str(tmp_path / "a" / "t")).make_folder()
    assert synced == [str(tmp_path / "a")]


def test_a_process_that_ends_while_a_merge_begins_prints_no_error(tmp_path):
    program = """
import sys, headrace
store = headrace.Store(sys.argv[1], schema={"n": "int64"}, merge_rows=1)
store.append(b"n\\n" + b"".join(b"%d\\n" % i for i in range(300_000)))
"""
    for name in "ab":
        ended = subprocess.run([sys.executable, "-c", program, tmp_path / name], capture_output=True, text=True, check=True)
        assert ended.stderr == ""
        assert len(Store(tmp_path / name, read_only=True)) == 300_000


def damaged(folder, pattern, offset):
    """Flip a bit of the file that matches a pattern."""
    path = next(Path(folder).glob(pattern))
    data = bytearray(path.read_bytes())
    data[offset] ^= 16
    path.write_bytes(data)
    return path.name


def test_damage_is_refused_and_rows_up_to_there_are_salvaged(tmp_path):
    with Store(tmp_path / "s", schema=SCHEMA, key="n") as store:
        for i in range(4):
            store.append(b"n,t\n%d,x\n" % i)
        begin = store.statistics.log_bytes
        store.append(b"n,t\n4,x\n")
    name = damaged(tmp_path / "s", "log-*", begin + 60)
    with pytest.raises(SourceError, match=rf"{name} at byte {begin}: the checksum of the payload differs"):
        Store(tmp_path / "s")
    found = Store.salvage(tmp_path / "s", tmp_path / "copy")
    assert (found.rows, found.file, found.offset) == (4, name, begin)
    with Store(tmp_path / "copy") as copy:
        assert copy.table()["n"].to_pylist() == [0, 1, 2, 3]
        assert copy.key == "n"
        assert copy.append(b"n,t\n4,x\n") == 1


MAIN_ROWS = {"n": [1, 2, 3], "t": ["x", None, "z"], "f": [0.5, 1.5, 2.5]}


@pytest.mark.parametrize("key", ["n", None], ids=str)
def test_a_damaged_main_leaves_its_other_columns_and_the_rows_of_the_log(key, tmp_path):
    """Each byte of the main is damaged in turn: values are right, or null in a column that is named."""
    with Store(tmp_path / "s", schema={**SCHEMA, "f": "float64"}, key=key) as store:
        store.append(b"n,t,f\n1,x,0.5\n2,,1.5\n5,y,9\n3,z,2.5\n")
        store.merge()
        store.delete(col("n") == 5)
        store.append(b"n,t,f\n4,w,3.5\n")
    main = next((tmp_path / "s").glob("main-*"))
    whole, lost = main.read_bytes(), set()
    for offset in range(0, len(whole), 5):
        main.write_bytes(whole[:offset] + bytes([whole[offset] ^ 16]) + whole[offset + 1 :])
        found = Store.salvage(tmp_path / "s", tmp_path / "copy")
        rows = Store(tmp_path / "copy", read_only=True).table().to_pydict()
        shutil.rmtree(tmp_path / "copy")
        assert found.file == main.name
        first = [] if found.rows == 1 else [1, 2, 3]
        assert rows["n"] in ([*first, 4], [None] * len(first) + [4])
        for name, last in (("t", "w"), ("f", 3.5), ("n", 4)):
            expected = [None] * 3 if name in found.lost_columns else MAIN_ROWS[name]
            assert rows[name] == [*expected[: len(first)], last]
        lost.add((len(first), *found.lost_columns))
    assert lost == {(0,), (3,), (3, "t"), (3, "f")} | (set() if key else {(3, "n")})
    main.write_bytes(whole[: len(whole) // 2])
    assert Store.salvage(tmp_path / "s", tmp_path / "copy").lost_columns[-1] == "f"
    with pytest.raises(SourceError, match=f"{main.name} at byte .* copies what is undamaged"):
        Store(tmp_path / "s", read_only=True)


@pytest.mark.parametrize(("lost", "rows"), [("main-*", {"n": [3], "t": ["z"]}), ("log-*", {"n": [1, 2], "t": ["x", "y"]})])
def test_a_missing_file_leaves_the_rows_of_the_others(lost, rows, tmp_path):
    with Store(tmp_path / "s", schema=SCHEMA, key="n") as store:
        store.append(b"n,t\n1,x\n2,y\n")
        store.merge()
        store.append(b"n,t\n3,z\n")
    path = next((tmp_path / "s").glob(lost))
    path.unlink()
    with pytest.raises(SourceError, match=f"{path.name} at byte 0: the file is missing"):
        Store(tmp_path / "s")
    assert Store.salvage(tmp_path / "s", tmp_path / "copy").file == path.name
    assert Store(tmp_path / "copy").table().to_pydict() == rows


def test_a_damaged_manifest_is_refused(tmp_path):
    Store(tmp_path / "s", schema=SCHEMA).close()
    damaged(tmp_path / "s", "manifest", 50)
    with pytest.raises(SourceError, match=r"the manifest of .* is damaged, at byte 0"):
        Store(tmp_path / "s")


def test_a_torn_log_is_reported(tmp_path):
    store = Store(tmp_path / "s", schema=SCHEMA)
    store.append(b"n,t\n1,x\n")
    shutil.copytree(tmp_path / "s", tmp_path / "t")
    store.close()
    log = next((tmp_path / "t").glob("log-*"))
    log.write_bytes(log.read_bytes() + b"HRSR and more")
    reader = Store(tmp_path / "t", read_only=True)
    assert (len(reader), reader.statistics.torn_bytes) == (1, 13)
    with Store(tmp_path / "t") as store:
        assert store.statistics.torn_bytes == 13
        store.append(b"n,t\n2,y\n")
    with Store(tmp_path / "t") as store:
        assert store.statistics.torn_bytes == 0
        assert store.table()["n"].to_pylist() == [1, 2]


def model_of(count):
    """Return the keys after `count` changes of killed_writer.py."""
    keys = []
    for number in range(count):
        if number % 7 == 3:
            continue
        if number % 5 == 4:
            gone = {10 * (number - 1), 10 * (number - 2)}
            keys = [key for key in keys if key not in gone]
        else:
            keys += [10 * number + i for i in range(3)]
    return keys


@pytest.mark.parametrize("times", [6, pytest.param(100, marks=pytest.mark.long), pytest.param(1000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("key", ["n", None], ids=str)
def test_a_writer_that_is_killed_at_any_time(times, key, tmp_path, request):
    draw = seeded(request.node.name)
    path, number, begun = tmp_path / "s", 0, 0
    Store(path, schema=SCHEMA, key=key).close()
    program = Path(__file__).with_name("killed_writer.py")
    server = subprocess.Popen([sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(times):
            if number > 150:
                shutil.rmtree(path)
                Store(path, schema=SCHEMA, key=key).close()
                number = 0
            server.stdin.write(f"{path} {number} {draw.choice(['always', 'batch', 'never'])}\n")
            server.stdin.flush()
            writer = int(server.stdout.readline())
            begun += 1
            for _ in range(draw.randrange(6)):
                number = int(server.stdout.readline()) + 1
            time.sleep(draw.random() * 0.02)
            os.kill(writer, signal.SIGKILL)
            while (line := server.stdout.readline()) != "dead\n":
                number = int(line) + 1
            with Store(path) as store:
                found = store.table()["n"].to_pylist()
            assert found in (model_of(number), model_of(number + 1)), number
            while found != model_of(number):
                number += 1
    finally:
        server.stdin.close()
        server.wait()
    assert begun == times


def guarded(faults, work, *given):
    """Run work in a thread; add its error to the faults."""
    try:
        work(*given)
    except BaseException as error:  # noqa: BLE001  reported by the test
        faults.append(repr(error))


GONE = {3 * number for number in range(7, 40, 8)}


def has_whole_changes(keys, thread):
    """Return whether the keys of a thread are those of whole changes, from the first one on."""
    present = {key - 1000 * thread for key in keys if key // 1000 == thread}
    count = max(present, default=-1) + 1
    return count % 3 == 0 and present >= set(range(count)) - GONE


def test_threads_that_append_read_and_merge(tmp_path):
    store = Store(tmp_path / "s", schema=SCHEMA, key="n", merge_rows=40, sync="never")
    faults, done = [], threading.Event()

    def append(thread):
        for number in range(40):
            store.append(b"n,t\n" + b"".join(b"%d,%d\n" % (1000 * thread + 3 * number + i, thread) for i in range(3)))
            if number % 8 == 7:
                store.delete([1000 * thread + 3 * number])
            if number % 10 == 9:
                store.update(b"n,t\n%d,new\n" % (1000 * thread + 1))

    def read():
        while not done.is_set():
            snapshot = store.snapshot()
            keys = snapshot.table()["n"].to_pylist()
            if len(keys) != len(snapshot) or len(set(keys)) != len(keys):
                faults.append("rows are missing or there twice")
            if not all(has_whole_changes(keys, thread) for thread in range(2)):
                faults.append("a change is visible in part")
            if not all(snapshot.lookup(keys[:5]).found):
                faults.append("a key is not found")

    def merge():
        while not done.is_set():
            store.merge()

    writers = [threading.Thread(target=guarded, args=(faults, append, thread)) for thread in range(2)]
    others = [threading.Thread(target=guarded, args=(faults, work)) for work in (read, read, merge)]
    for thread in [*writers, *others]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    assert faults == []
    expected = {1000 * thread + key for thread in range(2) for key in set(range(120)) - GONE}
    assert set(store.table()["n"].to_pylist()) == expected
    assert store.lookup([1, 1001]).rows["t"].to_pylist() == ["new", "new"]
    assert len(store.sql("from store where t = 'new'")["n"]) == 2
    store.close()
    with Store(tmp_path / "s") as again:
        assert set(again.table()["n"].to_pylist()) == expected
        assert again.delete(col("n") >= 0) == len(expected)


def test_a_pickle_names_the_way(tmp_path):
    store = Store(tmp_path / "store", schema=SCHEMA)
    with pytest.raises(TypeError, match=r"open it in the other process by Store\('.*store', read_only=True\)"):
        pickle.dumps(store)
    for other, message in ((Store(schema=SCHEMA), "a Store cannot"), (store.snapshot(), "a StoreSnapshot cannot")):
        with pytest.raises(TypeError, match=f"{message} be pickled; pickle its table"):
            pickle.dumps(other)
    assert pickle.loads(pickle.dumps(store.table())).schema == SCHEMA
    store.close()
