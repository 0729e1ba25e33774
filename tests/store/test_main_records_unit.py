"""Tests the records of a main: their bytes, and the memory that they refer to."""

from __future__ import annotations

import numpy as np

from headrace.dictionary import decode, encode
from headrace.store.files.folder import MainRecord
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
    again = Main.of_records(read)
    assert decode(again.columns["x"]).to_pylist() == values and len(again.rows) == len(values)
