"""Tests columns of a main that are read at their first use: bytes that are read, damage, removed files and threads."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

import headrace
from headrace import SourceError, Store, col
from headrace.store.files import file_system
from headrace.store.files.records import HEADER_BYTES, RecordKind, read_records

ROWS = 20_000
SCHEMA = {"n": "int64", "t": "string", "x": "int64", "y": "int64"}


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Return the files of a merged store."""
    path = tmp_path_factory.mktemp("image") / "store"
    with Store(path, schema=SCHEMA, key="n") as store:
        store.append(headrace.read_csv(text_of(range(ROWS))))
        store.merge()
    return {file.name: file.read_bytes() for file in path.iterdir()}


def text_of(numbers):
    return b"n,t,x,y\n" + b"".join(b"%d,text %d,%d,%d\n" % (n, n % 3000, 7 * n, n * n) for n in numbers)


def folder_of(image, path):
    path.mkdir(exist_ok=True)
    for name, data in image.items():
        (path / name).write_bytes(data)
    return path


def records_of(image):
    """Return the name of the main's file, and its record of each column."""
    name = next(name for name in image if name.startswith("main"))
    columns = [record for record in read_records(image[name], 1).records if record.kind == RecordKind.COLUMN]
    return name, dict(zip(SCHEMA, columns, strict=True))


@pytest.fixture
def reads(monkeypatch):
    """Return the begins of the ranges of more than 1,000 bytes that are read of files."""
    found, read = [], file_system._native.read_file

    def counted(file, begin, size):
        if size > 1000:
            found.append(begin)
        return read(file, begin, size)

    monkeypatch.setattr(file_system._native, "read_file", counted)
    return found


@pytest.mark.parametrize("is_read_only", [True, False])
def test_a_column_is_read_once_at_its_first_use(image, tmp_path, reads, is_read_only):
    _, records = records_of(image)
    begins = {name: record.begin + HEADER_BYTES for name, record in records.items()}
    store = Store(folder_of(image, tmp_path / "s"), read_only=is_read_only)
    assert len(store) == ROWS and reads == []
    for _ in range(2):
        assert store.table(["x"])["x"].to_pylist() == [7 * n for n in range(ROWS)]
    assert reads == [begins["x"]]
    assert store.sql("select sum(Y)::bigint as s from store where n < 3").to_pylist() == [{"s": 5}]
    assert sorted(reads) == sorted(begins[name] for name in ("x", "y", "n"))
    if not is_read_only:
        store.alter(rename={"x": "z"}, widen={"y": "int64"}, add={"new": "int8"})
        assert store.table(["z", "y"]).num_rows == ROWS and begins["t"] not in reads
    assert store.lookup(5).rows["t"].to_pylist() == ["text 5"]
    assert sorted(reads) == sorted(begins.values())
    store.close()


@pytest.mark.parametrize("place", ["x", "t"])
def test_a_damaged_column_is_an_error_of_its_first_use(image, tmp_path, place):
    name, records = records_of(image)
    data = bytearray(image[name])
    data[records[place].begin + HEADER_BYTES + 100] ^= 8
    path = folder_of({**image, name: bytes(data)}, tmp_path / "s")
    message = rf"is damaged: {name} at byte {records[place].begin}: the checksum of the payload differs; headrace\.Store\.salvage"
    store = Store(path)
    for _ in range(2):
        with pytest.raises(SourceError, match=message):
            store.table([place])
        with pytest.raises(SourceError, match=message):
            store.sql(f"select max({place}) as m from store")
    assert store.table(["y"])["y"].to_pylist() == [n * n for n in range(ROWS)]
    assert store.append(headrace.read_csv(text_of([ROWS]))) == 1
    with pytest.raises(SourceError, match=message):
        store.merge()
    assert len(store) == ROWS + 1
    store.close()
    with Store(path) as store:
        assert store.table(["n"])["n"].to_pylist() == list(range(ROWS + 1))
        store.alter(drop=place)  # what remains is undamaged
        assert store.merge() and len(store) == ROWS + 1
    assert len(Store(path, read_only=True).table()) == ROWS + 1
    folder_of({**image, name: bytes(data)}, tmp_path / "again")
    found = Store.salvage(tmp_path / "again", tmp_path / "copy")
    assert (found.rows, found.lost_columns, found.offset) == (ROWS, [place], records[place].begin)


def test_damage_of_what_is_read_at_once_is_an_error_of_the_opening(image, tmp_path):
    name, records = records_of(image)
    first, last = records["n"].begin, records["y"].end
    for at in [*range(0, first, 7), records["t"].begin + 8, records["x"].begin + 36, last + 4, len(image[name]) - 1]:
        data = bytearray(image[name])
        data[at] ^= 2
        with pytest.raises(SourceError, match=f"is damaged: {name} at byte "):
            Store(folder_of({**image, name: bytes(data)}, tmp_path / "s"), read_only=True)
    for size in (last, last - 1, first + 3, 0):
        with pytest.raises(SourceError, match=f"is damaged: {name} at byte "):
            Store(folder_of({**image, name: image[name][:size]}, tmp_path / "s"), read_only=True)


def test_a_file_that_becomes_shorter_is_damaged(image, tmp_path):
    name, records = records_of(image)
    path = folder_of(image, tmp_path / "s")
    with Store(path, read_only=True) as reader:
        (path / name).write_bytes(image[name][: records["y"].end - 100])
        with pytest.raises(SourceError, match=f"{name} at byte {records['y'].begin}"):
            reader.table()
        assert reader.table(["x"]).num_rows == ROWS


def test_a_reader_reads_columns_of_a_main_that_a_merge_has_replaced(image, tmp_path):
    path = folder_of(image, tmp_path / "s")
    reader = Store(path, read_only=True)
    assert reader.table(["x"]).num_rows == ROWS
    with Store(path) as store:
        store.delete(col("n") < 5)
        store.merge()
    assert reader.table(["t", "y"]).num_rows == ROWS
    reader.refresh()
    assert len(reader) == reader.table().num_rows == ROWS - 5


def test_a_reader_on_nfs_of_a_main_that_is_gone(image, tmp_path, monkeypatch):
    """NFS has no removed files: a read of one that another machine has removed finds a stale handle."""
    read = file_system._native.read_file

    def stale(file, begin, size):
        if os.readlink(f"/proc/self/fd/{file}").endswith(" (deleted)"):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return read(file, begin, size)

    monkeypatch.setattr(file_system._native, "read_file", stale)
    name, _ = records_of(image)
    path = folder_of(image, tmp_path / "s")
    reader = Store(path, read_only=True)
    before = reader.snapshot()
    assert reader.table(["x"]).num_rows == ROWS
    with Store(path) as store:
        assert store.delete(col("n") < 5) == 5 and store.merge()
    for read_gone in (lambda: reader.table(["y"]), lambda: reader.sql("select max(y) as y from store"), lambda: reader.lookup(7)):
        with pytest.raises(FileNotFoundError, match=r"another machine has removed .*; refresh\(\) reads ") as caught:
            read_gone()
        assert caught.value.filename == str(path / name)
    assert reader.table(["x"]).num_rows == ROWS  # columns that were read before
    reader.refresh()
    assert reader.table(["y"]).num_rows == ROWS - 5 and reader.lookup([3, 7]).found.tolist() == [False, True]
    with pytest.raises(FileNotFoundError, match=r"refresh\(\)"):
        before.table(["y"])


def test_threads_that_use_a_column_first(image, tmp_path, reads):
    store = Store(folder_of(image, tmp_path / "s"), read_only=True)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda name: store.table([name])[name].to_pylist(), ["x", "y", "x", "t", "y", "x"]))
    assert found[0] == found[2] == found[5] == [7 * n for n in range(ROWS)] and found[1] == found[4]
    assert len(reads) == len(set(reads)) == 3
