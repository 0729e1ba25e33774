"""Calls that mean one thing to their caller and would quietly have done another."""

from __future__ import annotations

import array
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import OptionError, SourceError, read_csv, scan_csv, sniff_csv, write_csv

READERS: list[Callable[..., Any]] = [read_csv, lambda *a, **k: scan_csv(*a, **k).read(), sniff_csv]


def test_a_text_is_one_name() -> None:
    text = b"ab,a,b\n1,2,3\n"
    assert scan_csv(text).select("ab").read().to_pydict() == {"ab": [1]}
    assert read_csv(text, columns="ab").to_pydict() == {"ab": [1]}
    assert scan_csv(text, columns="ab").read().to_pydict() == {"ab": [1]}
    assert read_csv([text], columns="ab").to_pydict() == {"ab": [1]}
    assert scan_csv(text).select(0).read().to_pydict() == {"ab": [1]}
    for wrong in (5.0, b"ab", None, (name for name in "ab")):
        with pytest.raises(OptionError, match="names or positions"):
            scan_csv(text).select(wrong)
    with pytest.raises(OptionError, match="5"):
        scan_csv(text).select(5).read()
    with pytest.raises(OptionError, match="unknown column in columns 'ba'"):
        scan_csv(text).select("ba").read()


@pytest.mark.parametrize("read", READERS)
def test_bytes_that_name_a_file(read: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n")
    for source in (os.fsencode(path), bytearray(os.fsencode(path)), [os.fsencode(path)]):
        with pytest.raises(OptionError, match=r"bytes that name the file.*os.fsdecode"):
            read(source)
    assert read(os.fsencode(path) + b"\n") is not None
    assert read(os.fsencode(tmp_path)) is not None
    assert read(b"a,b") is not None


ARRAYS = [
    np.arange(3),
    np.array([1.5]),
    np.array(["a,b"]),
    np.array(["a"], object),
    np.array([b"a,b\n"]),
    np.array([True]),
    np.array([1], "M8[s]"),
    np.zeros(3, [("a", "i4")]),
    array.array("i", [1]),
    memoryview(array.array("d", [1.0])),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("items", ARRAYS, ids=lambda one: str(getattr(one, "dtype", type(one).__name__)))
def test_arrays_of_other_items_than_bytes(read: Callable[..., Any], items: Any) -> None:
    with pytest.raises(OptionError, match="source "):
        read(items)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a\r1", "a,b\n" * 10_000], ids=len)
def test_a_text_in_place_of_a_path(read: Callable[..., Any], text: str) -> None:
    for source in (text, [text]):
        with pytest.raises(OptionError, match=r"source looks like text.*; pass bytes or io.StringIO"):
            read(source)


@pytest.mark.parametrize("read", READERS)
def test_a_path_may_have_a_line_break_if_it_exists(read: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "a\nb.csv"
    path.write_bytes(b"a,b\n1,2\n")
    assert read(str(path)) is not None


@pytest.mark.parametrize("read", READERS)
def test_home_and_standard_input(read: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2\n")
    assert read("~/t.csv") is not None
    assert read("~/*.csv") is not None
    assert read(Path("~/t.csv")) is not None
    with pytest.raises(OptionError, match=r"'-' is no file; for standard input pass sys.stdin.buffer"):
        read("-")
    (tmp_path / "-").write_bytes(b"a,b\n1,2\n")
    assert read("-") is not None


def test_sets_of_paths_are_read_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.csv").write_bytes(b"x\n%s\n" % name.encode())
    paths = {str(tmp_path / "b.csv"), tmp_path / "a.csv", str(tmp_path / "c.csv")}
    assert read_csv(paths)["x"].to_pylist() == ["a", "b", "c"]
    assert scan_csv(frozenset(paths)).read()["x"].to_pylist() == ["a", "b", "c"]
    with pytest.raises(OptionError, match="a set, which has no order, with b'x"):
        read_csv({b"x\n1\n", b"x\n2\n"})
    with pytest.raises(OptionError, match="a list without a source"):
        read_csv(set())


def test_a_folder_says_how_to_read_its_files(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"is a directory; name a file in it, or several: .*\*.csv.* hive_partitioning=True"):
        read_csv(tmp_path)


@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_arrays_of_bytes_are_a_text(dtype: str) -> None:
    assert read_csv(np.frombuffer(b"a\n1\n", dtype)).to_pydict() == {"a": [1]}
    assert scan_csv(np.frombuffer(b"a\n1\n", dtype)).read().to_pydict() == {"a": [1]}
    assert read_csv(array.array("B", b"a\n1\n")).to_pydict() == {"a": [1]}


def test_a_table_is_no_array() -> None:
    pandas = pytest.importorskip("pandas")
    table = read_csv(b"a,b\n1,2\n")
    for make in (pandas.DataFrame, np.asarray, np.array):
        with pytest.raises(OptionError, match=r"to_pandas\(\)"):
            make(table)
    assert table.to_pandas().to_dict("list") == {"a": [1], "b": [2]}
    assert list(table) == ["a", "b"]


def test_the_index_of_a_pandas_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3]})
    assert write_csv(frame) == b"a\n1\n2\n3\n"
    assert write_csv(frame[frame.a > 1]) == b"a\n2\n3\n"
    assert write_csv(frame.set_axis(["x", "y", "z"])) == b"a\n1\n2\n3\n"
    assert write_csv(frame.set_axis(["x", "y", "z"]).rename_axis("k")) == b"a,k\n1,x\n2,y\n3,z\n"
    several = pandas.MultiIndex.from_tuples([(1, 2), (3, 4), (5, 6)], names=["p", None])
    assert write_csv(frame.set_axis(several)) == b"a,p\n1,1\n2,3\n3,5\n"
    assert list(frame.set_axis(several).columns) == ["a"]


@pytest.mark.parametrize("name", ["sep", "delimiter", "comment", "lineterminator", "quote_char", "escape_char"])
def test_auto_is_a_dialect(name: str) -> None:
    for read in (read_csv, scan_csv):
        with pytest.raises(OptionError, match="pass dialect='auto'"):
            read(b"a,b\n1,2\n", **{name: "auto"})
    assert read_csv(b"a;b\n1;2\n", dialect="auto").column_names == ["a", "b"]
    assert sniff_csv(b"a;b\n1;2\n", sep="auto").sep == ";"


@pytest.mark.parametrize("sep", [r"\s+", r"\s*,\s*", r"\t", r"[;,]", r"[,|]+", b"\\s+"])
def test_separators_are_no_regular_expressions(sep: str | bytes) -> None:
    with pytest.raises(OptionError, match=r"taken literally.* is a regular expression.*re\.sub"):
        read_csv(b"a b\n1 2\n", sep=sep)
    rewritten = re.sub(rb"[ \t]+", b"\t", b"a   b\n1 2\n")
    assert read_csv(rewritten, sep="\t").to_pydict() == {"a": [1], "b": [2]}


@pytest.mark.parametrize("sep", ["||", "\\|", "~|~", "+", "**", "\t"])
def test_separators_of_several_bytes_are_literal(sep: str) -> None:
    assert headrace.read_csv(f"a{sep}b\n1{sep}2\n".encode(), sep=sep).to_pydict() == {"a": [1], "b": [2]}
