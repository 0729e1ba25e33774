"""Tests the Arrow C data interface from the receiver's side: layouts, lifetimes, and structures read by hand."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace.columns.types import parse_type, type_names
from headrace.export.arrow.arrow import schema_capsule, stream_capsule

VALUES = {"bool": "true", "date32": "2024-02-29", "string": "é,", "large_string": "", "null": "NULL"}
CLOCKS = {"timestamp": "2024-02-29T12:34:56", "time32": "12:34:56", "time64": "12:34:56.5", "duration": "-1 day, 2:03:04"}
TEXT = b"i,s,b,d\n1,x,true,2024-02-29\n,,,\n3,\xc3\xa9,false,1969-12-31\n4,zz,true,1970-01-01\n"


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))),
    ("private_data", ctypes.c_void_p),
]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))),
    ("private_data", ctypes.c_void_p),
]


def opened(capsule, name, structure):
    """Return the structure in a capsule."""
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    return ctypes.cast(get(capsule, name), ctypes.POINTER(structure)).contents


def table():
    return headrace.read_csv(TEXT)


def test_schema_is_a_struct_of_nullable_fields():
    capsule = table().__arrow_c_schema__()
    schema = opened(capsule, b"arrow_schema", ArrowSchema)
    assert (schema.format, schema.name, schema.flags, schema.n_children) == (b"+s", b"", 0, 4)
    fields = [schema.children[i].contents for i in range(4)]
    assert [(f.name, f.format, f.flags) for f in fields] == [(b"i", b"l", 2), (b"s", b"u", 2), (b"b", b"b", 2), (b"d", b"tdD", 2)]


def test_array_has_its_buffers_in_arrow_s_order():
    strings = table()["s"]
    schema_held, array_held = strings.__arrow_c_array__()
    array = opened(array_held, b"arrow_array", ArrowArray)
    assert opened(schema_held, b"arrow_schema", ArrowSchema).format == b"u"
    assert (array.length, array.null_count, array.offset, array.n_buffers, array.n_children) == (4, 1, 0, 3, 0)
    assert [array.buffers[i] for i in range(3)] == [
        buffer.address for buffer in (strings.validity, strings.offsets, strings.values)
    ]


def test_column_without_nulls_has_no_validity():
    _, held = headrace.read_csv(b"a\n1\n2\n")["a"].__arrow_c_array__()
    array = opened(held, b"arrow_array", ArrowArray)
    assert array.null_count == 0 and array.n_buffers == 2 and not array.buffers[0] and array.buffers[1]


def test_release_is_asked_once_and_marks_the_structure():
    _, held = table()["i"].__arrow_c_array__()
    array = opened(held, b"arrow_array", ArrowArray)
    array.release(array)
    assert not array.release
    del held  # a capsule whose structure has been released has nothing left to do


def test_a_child_that_was_moved_out_is_not_released_with_its_parent():
    """A consumer moves a child by a copy of its struct, and sets the `release` of the original to null."""
    capsule = table().__arrow_c_schema__()
    schema = opened(capsule, b"arrow_schema", ArrowSchema)
    moved = ArrowSchema.from_buffer_copy(schema.children[0].contents)
    schema.children[0].contents.release = type(schema.release)()
    schema.release(schema)
    assert (moved.name, moved.format) == (b"i", b"l")
    moved.release(moved)
    assert not moved.release


@pytest.mark.parametrize("kind", type_names())
def test_every_type_arrives(kind):
    text = CLOCKS.get(kind.partition("[")[0]) or VALUES.get(kind, "42")
    read = headrace.read_csv(f"{text}|\nNULL|\n".encode(), sep="|", header=False, dtypes={0: kind}, null_values="NULL")
    arrow = pa.chunked_array(pa.table(read).column(0))
    arrow.validate(full=True)
    dictionary = "dictionary<values=string, indices=int32, ordered=0>"
    named = {"float32": "float", "float64": "double", "date32": "date32[day]", "dictionary[int32, string]": dictionary}
    name = named.get(kind, kind.replace(", UTC", ", tz=UTC"))
    assert str(arrow.type) == name and parse_type(arrow.type) == parse_type(kind)
    expected = read[0].to_pylist()
    assert arrow.null_count == expected.count(None) == (2 if kind == "null" else 1) and expected[1] is None
    assert (arrow.cast("int64") if "[ns" in kind else arrow).to_pylist() == expected


def test_receivers_agree():
    read = table()
    rows = [
        (1, "x", True, date(2024, 2, 29)),
        (None,) * 4,
        (3, "é", False, date(1969, 12, 31)),
        (4, "zz", True, date(1970, 1, 1)),
    ]
    assert [tuple(row.values()) for row in pa.table(read).to_pylist()] == rows
    assert pl.DataFrame(read).rows() == rows
    with duckdb.connect() as connection:
        assert connection.from_arrow(pa.table(read)).fetchall() == rows


@pytest.mark.parametrize(("begin", "end"), [(0, 4), (1, 3), (2, 4), (1, 2), (3, 3), (4, 4)])
def test_slice_arrives_as_the_slice(begin, end):
    read = table()
    part = pa.table(read[begin:end])
    part.validate(full=True)
    assert part.equals(pa.table(read).slice(begin, end - begin))
    for name in read.column_names:
        alone = pa.array(read[name][begin:end])
        alone.validate(full=True)
        assert alone.to_pylist() == read[name].to_pylist()[begin:end]


def test_stream_gives_one_batch_and_ends():
    reader = pa.RecordBatchReader.from_stream(table())
    assert reader.read_next_batch().num_rows == 4
    for _ in range(2):
        with pytest.raises(StopIteration):
            reader.read_next_batch()


def test_stream_without_columns_is_a_struct_of_none():
    schema = pa.RecordBatchReader.from_stream(headrace.Table({})).schema
    assert len(schema) == 0
    assert opened(schema_capsule({}), b"arrow_schema", ArrowSchema).n_children == 0


def test_names_may_be_any_text():
    read = headrace.read_csv(b"1,2,3\n", header=False, names=["é日", "a\nb", " "])
    assert pa.table(read).column_names == ["é日", "a\nb", " "]


def test_nothing_is_copied():
    read = headrace.read_csv(b"a\n" + b"1\n" * 1000)
    assert pa.table(read).column(0).chunk(0).buffers()[1].address == read["a"].values.address


def test_receiver_keeps_the_memory_alive():
    arrow, array = pa.table(table()), pa.array(table()["s"])
    gc.collect()
    headrace.read_csv(b"i,s\n" + b"9,qq\n" * 100)
    assert arrow.column(0).to_pylist() == [1, None, 3, 4] and array.to_pylist() == ["x", None, "é", "zz"]
    kept = arrow.column(1).slice(2)
    del arrow
    gc.collect()
    assert kept.to_pylist() == ["é", "zz"]


def test_capsule_that_nobody_takes_frees_what_it_holds():
    read = table()
    for _ in range(3):
        stream_capsule(read.columns, len(read))
        read["i"].__arrow_c_array__()
    gc.collect()
    assert read["i"].to_pylist() == [1, None, 3, 4]


def test_memory_is_given_back_when_the_last_receiver_lets_go():
    read = headrace.read_csv(b"a\n" + b"%d\n" % 10**17 * 2_000_000)
    column = read["a"]
    before = resident()
    del read
    held = [pa.array(column) for _ in range(3)]
    del column
    gc.collect()
    assert held[2][1_999_999].as_py() == 10**17
    del held
    gc.collect()
    headrace.release_unused_memory()
    assert resident() < before - 12_000_000


def resident():
    """Return the resident bytes of the process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_arrays_may_be_released_on_threads_that_python_does_not_know():
    read = table()
    held = [read["s"].__arrow_c_array__()[1] for _ in range(64)]
    arrays = [opened(capsule, b"arrow_array", ArrowArray) for capsule in held]
    # A call through ctypes releases the GIL.
    threads = [
        threading.Thread(target=lambda part=part: [array.release(array) for array in part])
        for part in (arrays[::2], arrays[1::2])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(array.release for array in arrays)
    assert read["s"].to_pylist() == ["x", None, "é", "zz"]


ENDING = """
import ctypes, threading, time
import headrace
from test_arrow_unit import ArrowArray, opened

table = headrace.read_csv(b"a\\n1\\n2\\n")

def release_for_ever():
    while True:
        _, held = table["a"].__arrow_c_array__()
        array = opened(held, b"arrow_array", ArrowArray)
        array_pointer = ctypes.pointer(array)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ctypes.cast(array.release, ctypes.c_void_p).value)(array_pointer)

for _ in range(4):
    threading.Thread(target=release_for_ever, daemon=True).start()
time.sleep(0.2)
"""


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("0", "2")
@pytest.mark.parametrize("attempt", range(4))
def test_arrays_may_be_released_while_the_interpreter_ends(attempt):
    # A release that waits for the GIL while the interpreter ends would end the process by `std::terminate`.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", ENDING], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
