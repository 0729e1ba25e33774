"""Tests the records of a main: their bytes, and the memory that they refer to."""

from __future__ import annotations

from decimal import Decimal
from threading import Event
from time import sleep

import numpy as np
import pyarrow as pa
import pytest

import headrace
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.dictionary import decode, encode
from headrace.store.files.main_file import MainRecord
from headrace.store.files.records import RecordKind
from headrace.store.main import Main
from headrace.store.row_runs import RowRuns


def test_records_refer_to_the_memory_of_codes_and_texts():
    values = [f"text {i % 3_000}" for i in range(50_000)]
    column = encode(values)
    main = Main({"x": column}, RowRuns.of_runs([0], [len(values)]))
    description, rows, written = main.records()
    assert [record.kind for record in (description, rows, written)] == [RecordKind.MAIN, RecordKind.ROWS, RecordKind.COLUMN]
    addresses = [np.frombuffer(part, np.uint8).ctypes.data for part in written.parts if len(part)]
    assert column.words.address in addresses and column.dictionary.values.address in addresses
    read = [MainRecord(record.kind, (b"".join(record.parts),)) for record in main.records()]
    again = Main.of_records(read, {"x": column.type})
    assert decode(again.columns["x"]).to_pylist() == values and len(again.rows) == len(values)


def buffers_of(columns):
    """Return the buffers of encoded columns that have bytes."""
    parts = [(c.words, c.validity, c.dictionary.values, c.dictionary.offsets) for c in columns.values()]
    return [part for column in parts for part in column if part is not None and part.nbytes]


def test_the_columns_of_a_file_are_parts_of_its_memory_and_no_merge_keeps_them():
    decimals = pa.array([Decimal("1.5"), None, Decimal(2)] * 50, pa.decimal128(9, 2))
    given = pa.table({"n": pa.array([5, None, 7] * 50), "t": pa.array(["a", "bc", None] * 50), "d": decimals})
    wanted = headrace.Table.from_arrow(given)
    main = Main({name: encode(column) for name, column in wanted.columns.items()}, RowRuns.of_runs([0], [150]))
    file = copy_of(b"".join(part for record in main.records() for part in record.parts))
    read, begin = [], 0
    for record in main.records():
        end = begin + sum(map(len, record.parts))
        read.append(MainRecord(record.kind, (memoryview(file)[begin:end],)))
        begin = end
    again = Main.of_records(read, wanted.schema)
    assert {name: decode(column).to_pylist() for name, column in again.columns.items()} == wanted.to_pydict()

    def in_file(main):
        return [file.address <= part.address < file.address + file.nbytes for part in buffers_of(main.columns)]

    assert in_file(again).count(False) == 1  # decimals, which Arrow aligns to 8 bytes
    with again.merging(lambda name: wanted.columns[name], RowRuns.of_runs([0], [300]), None, Context(threads=1)) as merging:
        later = merging.main()
    assert not any(in_file(later)) and len(later.rows) == 300


def test_a_merged_column_is_written_while_the_next_one_is_merged():
    wanted = headrace.read_csv(b"first,second\n3,x\n1,y\n")
    main = Main({name: encode(column) for name, column in wanted.columns.items()}, RowRuns.of_runs([0], [2]))
    has_first = Event()

    def delta_of(name):
        assert name == "first" or has_first.wait(60)
        return wanted.columns[name]

    with main.merging(delta_of, RowRuns.of_runs([0], [4]), None, Context(threads=4)) as merging:
        records = merging.records(wanted.schema)
        found = [next(records) for _ in range(3)]
        has_first.set()
        found += records
        merged = merging.main()
    assert [record.parts for record in found] == [record.parts for record in merged.records()]
    assert {name: decode(column).to_pylist() for name, column in merged.columns.items()} == {
        "first": [3, 1, 3, 1],
        "second": ["x", "y", "x", "y"],
    }


def test_an_error_of_a_write_ends_the_merge_of_other_columns():
    wanted = headrace.read_csv(b"a,b,c,d\n3,x,5,y\n")
    main = Main({name: encode(column) for name, column in wanted.columns.items()}, RowRuns.of_runs([0], [1]))
    began = []

    def delta_of(name):
        began.append(name)
        sleep(0.2)
        return wanted.columns[name]

    with pytest.raises(OSError, match="full"), main.merging(delta_of, RowRuns.of_runs([0], [2]), None, Context(threads=1)):
        raise OSError("full")
    assert len(began) < 4
