"""Tests misuse, tables that fail, and files that cannot be written: a clear error, and no file remains."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import resource
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import MemoryLimitError, OptionError, SourceError, write_csv

TABLE = pa.table({"a": [1, 2], "b": ["x", "y"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ""}, "sep"),
        ({"sep": "123456789"}, "sep"),
        ({"sep": 1}, "sep"),
        ({"sep": '"'}, "share the byte"),
        ({"sep": "\n"}, "share the byte"),
        ({"line_end": ","}, "share the byte"),
        ({"line_end": "n", "quoting": "none", "escape_char": "\\", "escape_sequences": True}, "line_end may not contain b'n'"),
        ({"line_end": ""}, "line_end"),
        ({"line_end": None}, "line_end must be a text"),
        ({"quote_char": "ab"}, "quote"),
        ({"quote_char": None, "quoting": "all"}, "quoting='all' needs a quote_char"),
        ({"quoting": "some"}, "unknown quoting 'some'"),
        ({"null": None}, "null must be a text"),
        ({"null": "a,b"}, "null='a,b' contains"),
        ({"null": '"'}, "contains"),
        ({"null": "#", "comment": "#"}, "contains the beginning of a comment"),
        ({"header": 1}, "header must be True or False"),
        ({"threads": 0}, "threads must be a positive"),
        ({"compression": "zip"}, "unknown compression 'zip'"),
        ({"context": 3}, "context must be a Context"),
        ({"delimeter": ";"}, "did you mean 'delimiter'"),
        ({"sep": ";", "delimiter": "|"}, "both given"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        write_csv(TABLE, **options)


class ArrowStream(ctypes.Structure):
    """The C structure of a stream of batches, whose functions are known by their order alone."""

    NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    _fields_ = (
        ("schema", ctypes.c_void_p),
        ("next", NEXT),
        ("error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
    )


class ChangedStream:
    """A stream of the table whose function for the next batch is another one, made from the stream's own."""

    def __init__(self, change: Callable[[Any], Callable[[int, int], int]]) -> None:
        self._change = change

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        capsule = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()).__arrow_c_stream__()
        address_in_a_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        address = address_in_a_capsule(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"arrow_array_stream")
        stream = ArrowStream.from_address(address)
        own = ctypes.cast(stream.next, ctypes.c_void_p).value or 0
        self._next = ArrowStream.NEXT(self._change(ArrowStream.NEXT(own)))
        stream.next = self._next
        return capsule


def test_a_stream_that_lacks_memory() -> None:
    for threads in (1, 3):
        with pytest.raises(MemoryLimitError, match="the system refused memory"):
            write_csv(ChangedStream(lambda _: lambda stream, batch: errno.ENOMEM), threads=threads)


def test_a_batch_that_begins_before_its_columns() -> None:
    def shifted(own: Any) -> Callable[[int, int], int]:
        def following(stream: int, batch: int) -> int:
            code: int = own(stream, batch)
            ctypes.c_int64.from_address(batch + 16).value = -1  # the offset
            return code

        return following

    with pytest.raises(SourceError, match="a batch of the table's stream has other columns than its schema"):
        write_csv(ChangedStream(shifted))


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pa.array([[1]]), "nested"),
        (pa.array([{"x": 1}]), "nested"),
        (pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8())), "nested"),
        (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "an interval"),
        (pa.RunEndEncodedArray.from_arrays([1], [7]), "run-end encoded"),
    ],
)
def test_types_without_a_text(tmp_path: Path, column: pa.Array, what: str) -> None:
    with pytest.raises(OptionError, match=f"column 'bad one' is {what}.*cast it, or leave it out"):
        write_csv(pa.table({"ok": [1], "bad one": column}), tmp_path / "t.csv")
    assert os.listdir(tmp_path) == []


def test_no_tables() -> None:
    with pytest.raises(OptionError, match=r"must be an Arrow table \(an object with __arrow_c_stream__\), not dict"):
        write_csv({"a": [1]})  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="not a stream of single arrays"):
        write_csv(pa.chunked_array([[1]]))
    with pytest.raises(OptionError, match="whole rows are null"):
        write_csv(pa.chunked_array([pa.array([{"a": 1}, None])]))
    with pytest.raises(OptionError, match="path_or_file must be a path"):
        write_csv(TABLE, 3)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="binary mode"):
        write_csv(TABLE, io.StringIO())  # type: ignore[arg-type]


def test_a_stream_that_was_read_already() -> None:
    class Once:
        def __init__(self) -> None:
            self.capsule = TABLE.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.capsule

    once = Once()
    assert write_csv(once) == b"a,b\n1,x\n2,y\n"
    with pytest.raises(SourceError, match="read already"):
        write_csv(once)


@pytest.mark.long_except("4")
@pytest.mark.parametrize("threads", [1, 4])
def test_a_stream_that_fails_leaves_what_was_there(tmp_path: Path, threads: int) -> None:
    def batches() -> Any:
        batch = pa.record_batch({"a": np.arange(100_000)})
        for _ in range(20):
            yield batch
        raise RuntimeError("no more today")

    path = tmp_path / "t.csv"
    path.write_text("old")
    for target in (path, None, io.BytesIO()):
        with pytest.raises(SourceError, match="no more today"):
            write_csv(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches()), target, threads=threads)
    assert os.listdir(tmp_path) == ["t.csv"] and path.read_text() == "old"


def test_rows_that_would_be_lost() -> None:
    with pytest.raises(OptionError, match=r"row 1 of the only column, 'a', is null: .* pass null='NA'"):
        write_csv(pa.table({"a": [1, None]}))
    assert headrace.read_csv(write_csv(pa.table({"a": [1, None]}), null="NA"), null_values="NA")["a"].to_pylist() == [1, None]
    assert headrace.read_csv(write_csv(pa.table({"a": ["", "x"]})), header=True)["a"].to_pylist() == ["", "x"]


@pytest.mark.parametrize(
    ("value", "options"),
    [
        *((text, {}) for text in ("a,b", "a\nb", "\r", '"', "")),
        ("NA", {"null": "NA"}),
        ("#x", {"comment": "#"}),
        ("\ufeff", {"header": False}),
    ],
)
def test_without_quotes_what_needs_them_is_refused(value: str, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="row 0 of column 'a' cannot be written without quotes"):
        write_csv(pa.table({"a": [value], "b": [1]}), quoting="none", **options)
    with pytest.raises(OptionError, match="the name of column 'a,b'"):
        write_csv(pa.table({"a,b": [1]}), quoting="none")


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_first_of_several_faults_is_told(threads: int) -> None:
    texts = ["fine"] * 300_000
    texts[150_000] = texts[290_000] = "a,b"
    with pytest.raises(OptionError, match="row 150000 "):
        write_csv(pa.table({"a": texts, "b": texts}), quoting="none", threads=threads)


@pytest.mark.parametrize("index", [1, 5, -1])
def test_a_dictionary_without_the_value(index: int) -> None:
    indices = pa.array([0, index], pa.int8())
    broken = pa.DictionaryArray.from_arrays(indices, pa.array(["x"]), safe=False)
    with pytest.raises(SourceError, match="refers to a value that its dictionary lacks"):
        write_csv(pa.table({"a": broken}))


@pytest.mark.parametrize(("offset", "size"), [(0, 20), (8, 13), (20, 13), (-1, 13)])
def test_a_view_of_bytes_that_are_not_there(offset: int, size: int) -> None:
    views = struct.pack("<i4sii", size, b"abcd", 0, offset)
    column = pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(views), pa.py_buffer(b"abcdefghijklmnopq")])
    with pytest.raises(SourceError, match="column 'a' has a view of bytes that are not there"):
        write_csv(pa.table({"a": column}))


def test_paths_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_csv(TABLE, tmp_path / "nowhere" / "t.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(IsADirectoryError, match=r"Is a directory: '[^']*/d\.csv'$"):
        write_csv(TABLE, tmp_path / "d.csv")
    assert os.listdir(tmp_path) == ["d.csv"]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_disk_that_is_full(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")
    table = pa.table({"a": range(1_000_000)})
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
        with pytest.raises(OSError, match="too large") as raised:
            write_csv(table, path, threads=threads)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert raised.value.errno == errno.EFBIG and raised.value.filename == str(path)
    assert os.listdir(tmp_path) == ["t.csv"] and path.read_text() == "old"


@pytest.mark.parametrize("taken", [0, -1, 10**9])
def test_a_file_object_that_takes_nothing(taken: int) -> None:
    class Odd:
        def write(self, data: bytes) -> int:
            return taken

    with pytest.raises(OSError, match="wrote"):
        write_csv(TABLE, Odd())


def test_a_file_object_that_fails() -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    for compression in (None, "gzip"):
        with pytest.raises(OSError, match="No space left"):
            write_csv(TABLE, Full(), compression=compression)


INTERRUPTED = """
import os, signal, sys, threading
import pyarrow as pa, headrace
path = sys.argv[1]
long = pa.concat_tables([pa.table({"a": range(100_000)})] * 20_000)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    headrace.write_csv(long, path, threads=2)
except KeyboardInterrupt:
    print("stopped", os.listdir(os.path.dirname(path)))
"""


def test_ctrl_c_ends_a_long_writing(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "t.csv")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "stopped []\n")


def test_frames_that_are_no_arrow_table() -> None:
    pd = pytest.importorskip("pandas", reason="a peer")
    frame = pd.DataFrame({"a": pd.Series([1, "x", None], dtype=object)})
    for call, name in ((write_csv, "table"), (headrace.Table.from_arrow, "data")):
        with pytest.raises(OptionError, match=f"{name} is no Arrow table: .*column a with type object") as raised:
            call(frame)
        assert raised.value.__cause__ is not None
    with pytest.raises(OptionError, match=r"data is no Arrow table: .*int64"):
        headrace.Table.from_arrow(pd.Series([1, 2]))


def test_words_and_tables_of_other_writers_say_what_to_use() -> None:
    frame = pd.DataFrame({"a": [1]}, index=pd.Index([7], name="k"))
    assert write_csv(frame) == b"a,k\n1,7\n"
    assert write_csv(frame, index=False) == write_csv(frame.reset_index(drop=True), index=True) == b"a\n1\n"
    for options, message in (
        ({"index": "no"}, "index must be True or False"),
        ({"columns": ["a"]}, "write_csv has no columns: select the columns of the table first"),
        ({"float_format": "%.2f"}, "write_csv has no float_format: floats are the shortest text of the same bits"),
        ({"mode": "a"}, r"write_csv has no mode: pass an open file: open\(path, 'ab'\)"),
    ):
        with pytest.raises(OptionError, match=message):
            write_csv(TABLE, **options)  # type: ignore[arg-type]
    for value, message in (
        (pl.LazyFrame({"a": [1]}), "not LazyFrame; pass the frame that collect"),
        ({"a": [1]}, r"not dict; polars.DataFrame\(data\) or pyarrow.table\(data\) makes a table of it"),
        ([{"a": 1}], r"not list; polars.DataFrame\(data\) makes a table of it"),
        (np.zeros((2, 2)), r"not ndarray; pandas.DataFrame\(data, columns=names\)"),
    ):
        with pytest.raises(OptionError, match=message):
            write_csv(value)  # type: ignore[call-overload]
