"""Writes tables to files and reads them: every type, any Arrow table; and checks that a failure leaves no file."""

from __future__ import annotations

import gzip
import os
import stat
import sys
from pathlib import Path
from typing import Any, Self

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import headrace
from headrace.core.errors import MissingDependencyError, OptionError
from headrace.export import files
from headrace.export.files import check_target, write_table

TYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "date32"),
    *("timestamp[s]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]", "timestamp[us, UTC]", "string", "large_string"),
]
VALUES = {"bool": "true", "date32": "2024-02-29", "string": "é,", "large_string": ""}


def every_type() -> headrace.Table:
    """A value and a null of every type."""
    row = [VALUES.get(kind, "2024-02-29T12:34:56" if kind.startswith("timestamp") else "42") for kind in TYPES]
    text = "|".join(row) + "\n" + "|".join(["NULL"] * len(row)) + "\n"
    return headrace.read_csv(
        text.encode(), sep="|", header=False, schema=dict(zip(TYPES, TYPES, strict=True)), null_values="NULL"
    )


def read_back(path: Path) -> pa.Table:
    return pq.read_table(path) if path.suffix == ".parquet" else feather.read_table(path)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_every_type_comes_back(tmp_path: Path, suffix: str) -> None:
    table, path = every_type(), tmp_path / f"t{suffix}"
    write_table(table, path)
    back = read_back(path)
    # Parquet has no seconds: they come back as milliseconds.
    expected = table.to_arrow()
    if suffix == ".parquet":
        expected = expected.cast(expected.schema.set(12, pa.field("timestamp[s]", pa.timestamp("ms"))))
    assert back.schema.types == expected.schema.types
    assert back.equals(expected)


def test_an_arrow_file_has_one_dictionary_for_a_column(tmp_path: Path) -> None:
    scan = headrace.scan_csv(b"a\nx\ny\n", dtypes={"a": "category"}, batch_bytes=2)
    with pytest.raises(headrace.OptionError, match=r"one dictionary for a column, and batches have their own: write \.parquet"):
        scan.sink(tmp_path / "t.arrow")
    assert list(tmp_path.iterdir()) == []
    for source, suffix in ((scan, ".parquet"), (scan.read(), ".arrow")):
        write_table(source, tmp_path / f"t{suffix}")
        assert read_back(tmp_path / f"t{suffix}")["a"].to_pylist() == ["x", "y"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_slices_and_empty_tables_come_back(tmp_path: Path, suffix: str, rows: int) -> None:
    text = b"a,b\n" + b"".join(b"%d,x%d\n" % (i, i) if i % 3 else b",\n" for i in range(20))
    part = headrace.read_csv(text)[3 : 3 + rows]
    write_table(part, tmp_path / f"t{suffix}")
    assert read_back(tmp_path / f"t{suffix}").to_pydict() == part.to_pydict()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_any_arrow_table_will_do(tmp_path: Path, suffix: str) -> None:
    chunked = pa.table({"a": pa.chunked_array([[1, 2], [], [3]]), "b": pa.chunked_array([["x"], ["y", None]])})
    write_table(chunked, tmp_path / f"t{suffix}")
    assert read_back(tmp_path / f"t{suffix}").to_pydict() == chunked.to_pydict()
    write_table(pl.DataFrame({"a": [1.5, None]}), tmp_path / f"p{suffix}")
    assert read_back(tmp_path / f"p{suffix}").to_pydict() == {"a": [1.5, None]}


def test_a_file_that_exists_is_replaced_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "t.parquet", tmp_path / "link.parquet"
    path.write_text("old")
    link.symlink_to(path)
    write_table(headrace.read_csv(b"a\n1\n"), str(link))
    assert link.is_symlink()
    assert pq.read_table(path).to_pydict() == {"a": [1]}
    assert sorted(os.listdir(tmp_path)) == ["link.parquet", "t.parquet"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    write_table(headrace.read_csv(b"a\n1\n"), tmp_path / "t.arrow")
    assert stat.S_IMODE((tmp_path / "t.arrow").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_the_longest_name_that_a_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 123 + ".parquet")
    write_table(headrace.read_csv(b"a\n1\n"), path)
    assert path.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_a_failure_while_writing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    class Failing:
        def __init__(self, out: Any) -> None:
            self.out = out

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self.out.close()

        def write_batch(self, batch: Any) -> None:
            self.out.write_batch(batch)
            raise error

    path = tmp_path / "t.arrow"
    path.write_text("old")

    def write(table: Any, target: Path) -> None:
        files._write_batches(table, target, lambda sink, schema: Failing(pa.ipc.new_file(sink, schema)))

    failing = files._Format(write, "arrow", ("pyarrow.ipc",))
    monkeypatch.setitem(files._FORMATS, ".arrow", failing)
    with pytest.raises(error):
        write_table(headrace.read_csv(b"a\n1\n"), path)
    assert os.listdir(tmp_path) == ["t.arrow"]
    assert path.read_text() == "old"


def test_a_table_that_fails_leaves_nothing(tmp_path: Path) -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("no stream today")

    with pytest.raises(RuntimeError, match="no stream today"):
        write_table(Broken(), tmp_path / "t.parquet")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("check", [check_target, lambda path: write_table(headrace.read_csv(b"a\n1\n"), path)])
def test_targets_that_cannot_be(tmp_path: Path, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match=r"'\.pq' names no format; valid: \.parquet, \.arrow, \.feather"):
        check(tmp_path / "t.pq")
    with pytest.raises(OptionError, match="no suffix"):
        check(tmp_path / "parquet")
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "nowhere" / "t.parquet")
    (tmp_path / "d.parquet").mkdir()
    with pytest.raises(IsADirectoryError):
        check(tmp_path / "d.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'headrace\[arrow\]'"):
        check(tmp_path / "t.arrow")
    assert os.listdir(tmp_path) == ["d.parquet"]


@pytest.mark.parametrize(("name", "text"), [("t.csv", b"a,b\n1,x\n"), ("t.TSV", b"a\tb\n1\tx\n"), ("t.tsv.gz", b"a\tb\n1\tx\n")])
def test_delimited_text(tmp_path: Path, name: str, text: bytes) -> None:
    check_target(tmp_path / name)
    write_table(headrace.read_csv(b"a,b\n1,x\n"), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == text


def test_duckdb_has_one_table_named_as_the_file(tmp_path: Path) -> None:
    path = tmp_path / 'my "table" 1.duckdb'
    for rows in (b"1,x\n,\n", b"2,y\n"):  # the second replaces the first
        write_table(headrace.read_csv(b"a,b\n" + rows), path)
    assert os.listdir(tmp_path) == [path.name]
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [('my "table" 1',)]
        assert connection.execute('SELECT * FROM "my ""table"" 1"').fetchall() == [(2, "y")]


def test_duckdb_with_other_tables_is_not_replaced(tmp_path: Path) -> None:
    path, table = tmp_path / "t.duckdb", headrace.read_csv(b"a\n1\n")
    for _ in range(2):  # its only table is replaced
        write_table(table, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW orders AS SELECT 1")
    with pytest.raises(OptionError, match="has other tables, such as 'orders'"):
        write_table(table, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("DROP VIEW orders")
    write_table(table, path)
    path.write_bytes(b"no database")
    write_table(table, path)


def test_duckdb_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def rows():
        yield pa.record_batch({"a": [1]})
        raise RuntimeError("no more today")

    broken = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), rows())
    with pytest.raises(Exception, match="no more today"):
        write_table(broken, tmp_path / "t.duckdb")
    assert os.listdir(tmp_path) == []


def test_database_with_a_log_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "t.duckdb.wal").write_text("not yet in the file")
    with pytest.raises(OptionError, match="close that database"):
        write_table(headrace.read_csv(b"a\n1\n"), tmp_path / "t.duckdb")


def test_checking_touches_nothing(tmp_path: Path) -> None:
    check_target(tmp_path / "t.parquet")
    check_target("t.arrow")
    assert os.listdir(tmp_path) == []
