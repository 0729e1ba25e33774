"""Writes a store with a main of many rows, without appends and a merge of them.

Rows repeat a table of 2^k rows, so that the packed codes of its columns repeat, too: 100 million rows of 20 columns are written
in seconds. The key has the numbers from 0 on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import headrace
from headrace import Context
from headrace.core.buffer import copy_of
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.encoded_column import EncodedColumn, code_bits, words_of_codes
from headrace.store.dictionary.packing import pack
from headrace.store.files.file_system import HostFiles
from headrace.store.files.folder import StoreFolder
from headrace.store.files.log import SyncPolicy
from headrace.store.files.manifest import Manifest
from headrace.store.main import Main
from headrace.store.row_runs import RowRuns
from headrace.store.schema import texts_of


def write_store(path: Path, rows: int, others: Any, context: Context) -> None:
    """Create a store with a column `key`, and write its main.

    `rows`: number of rows, a multiple of 64.
    `others`: the other columns without nulls, a table of PyArrow of 64 rows or a larger power of 2. Rows repeat it.
    """
    assert rows % 64 == 0, rows
    assert len(others) % 64 == 0 or len(others) >= rows, len(others)
    columns = {"key": _numbered(rows, context)}
    for name, column in headrace.Table.from_arrow(others).columns.items():
        columns[name] = _repeated(encode(column, context=context), rows)
    schema = texts_of({name: column.type for name, column in columns.items()})
    files = HostFiles(str(path))
    folder = StoreFolder.create(files, str(path), Manifest(schema, "key", "raise"), SyncPolicy("never"))
    try:
        folder.write_main(Main(columns, RowRuns.of_runs([0], [rows])).records())
        folder.use_main(folder.log.first_sequence, rows, schema)
    finally:
        folder.close()


def _numbered(rows: int, context: Context) -> EncodedColumn:
    """Return the encoded column of the numbers below `rows`."""
    numbers = headrace.Table.from_arrow(pa.table({"key": np.arange(rows)})).columns["key"]
    return EncodedColumn(numbers, pack(np.arange(rows, dtype=np.uint32), code_bits(rows), context=context), rows)


def _repeated(column: EncodedColumn, rows: int) -> EncodedColumn:
    """Return a column whose rows repeat those of another one."""
    words = np.frombuffer(memoryview(column.words), np.uint64)[: words_of_codes(len(column), column.bits)]
    whole = np.resize(words, words_of_codes(rows, column.bits))
    return EncodedColumn(column.dictionary, copy_of(whole), rows)
