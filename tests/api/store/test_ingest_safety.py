"""A scan of many files is one change with `atomic=True`: after an error or a crash none of its rows is there."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import headrace
from headrace import OptionError, ParseError, Store

pytest.importorskip("pyarrow")

SCHEMA = {"n": "int64", "t": "string"}
ROWS = 400
KILLED = """
import resource, signal, sys
import headrace
folder, is_atomic, *files = sys.argv[1:]
store = headrace.Store(folder)
scan = headrace.scan_csv(files, batch_bytes=1000, dtypes={"n": "int64", "t": "string"})
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # the write after the limit ends the process
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
store.ingest(scan, atomic=is_atomic == "True")
"""


@pytest.fixture
def files(tmp_path):
    """Return the paths of five files of distinct rows."""
    paths = [str(tmp_path / f"{i}.csv") for i in range(5)]
    for i, path in enumerate(paths):
        with open(path, "wb") as file:
            file.write(b"n,t\n" + b"".join(b"%d,x%d\n" % (n, n % 7) for n in range(i * ROWS, (i + 1) * ROWS)))
    return paths


def scan(files, **options):
    return headrace.scan_csv(files, batch_bytes=1000, dtypes=SCHEMA, **options)


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    """Return a store with one row."""
    with Store(tmp_path / "s" if request.param == "folder" else None, schema=SCHEMA, key="n") as store:
        store.append(b"n,t\n-1,first\n")
        yield store


def test_all_files_are_one_change(store, files):
    before = store.snapshot()
    added = store.ingest(scan(files), atomic=True)
    assert added == added.report.rows == 5 * ROWS
    assert store.table()["n"].to_pylist() == [-1, *range(5 * ROWS)]
    assert store.lookup([0, 1999, 2000]).found.tolist() == [True, True, False]
    assert len(before) == 1


@pytest.mark.parametrize("is_atomic", [True, False])
def test_an_error_in_the_last_file(store, files, is_atomic):
    with open(files[-1], "ab") as file:
        file.write(b"x,y\n")
    with pytest.raises(ParseError):
        store.ingest(scan(files), atomic=is_atomic)
    assert (len(store) == 1) == is_atomic
    if is_atomic:
        added = store.ingest(scan(files, on_error="reject"), atomic=True)
        assert (added, len(added.rejects), added.report.rejected) == (5 * ROWS, 1, 1)


def test_a_key_that_is_twice_in_the_files(store, files):
    with pytest.raises(OptionError, match="the key 0 is twice in the rows"):
        store.ingest(scan([*files, files[0]]), atomic=True)
    assert len(store) == 1


def test_misuse(store, files, tmp_path):
    with pytest.raises(OptionError, match="atomic must be"):
        store.ingest(scan(files), atomic="yes")
    with Store(tmp_path / "other", schema=SCHEMA) as other:
        other.flush()
    with pytest.raises(OptionError, match=r"ingest\(\) changes the store"):
        Store(tmp_path / "other", read_only=True).ingest(scan(files), atomic=True)


@pytest.mark.parametrize("is_atomic", [True, False])
def test_a_process_that_is_killed_between_two_batches(files, is_atomic, tmp_path):
    folder = tmp_path / "killed"
    Store(folder, schema=SCHEMA).close()
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(is_atomic), *files], check=False)
    assert done.returncode == -signal.SIGXFSZ
    with Store(folder) as store:
        rows = len(store)
        assert store.table()["n"].to_pylist() == list(range(rows))
        assert (rows == 0) if is_atomic else (0 < rows < 5 * ROWS)
        store.delete(headrace.col("n") >= 0)
        assert store.ingest(scan(files), atomic=True) == 5 * ROWS
