"""Defines the main of a store: columns with sorted dictionaries and packed codes, which never change; and its records."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, pairwise
from struct import Struct
from threading import Lock
from typing import Any

from headrace.columns.column import Column
from headrace.columns.types import DataType
from headrace.core.buffer import part_of
from headrace.core.context import Context
from headrace.core.errors import MemoryLimitError, MissingDependencyError, SourceError
from headrace.core.process.process_lock import renew_in_children
from headrace.store.arrow_columns import columns_in, ipc_parts
from headrace.store.checked_column import check_column
from headrace.store.dictionary.encode import encode
from headrace.store.dictionary.encoded_column import EncodedColumn
from headrace.store.dictionary.items import empty_column
from headrace.store.dictionary.merge_columns import merging_columns
from headrace.store.dictionary.packing import codes_of
from headrace.store.dictionary.plain import column_of_nulls
from headrace.store.files.main_file import MainRecord
from headrace.store.files.manifest import MAX_NUMBER
from headrace.store.files.records import RecordKind
from headrace.store.row_runs import RowRuns

try:
    import numpy as np
except ImportError:
    raise MissingDependencyError.of("numpy", "numpy", "a store") from None

_SIZES = Struct("<QQQQ")  # nulls of a column, and bytes of its dictionary, codes and validity
_VALUES = "values"


class ColumnReader:
    """Returns a column, which a function makes in the first call. If that raises an exception, so does the next call."""

    def __init__(self, read: Callable[[], EncodedColumn]) -> None:
        self._read: Callable[[], EncodedColumn] | None = read
        self._column: EncodedColumn | None = None
        self.renew_after_fork()
        renew_in_children(self)

    def renew_after_fork(self) -> None:
        """See `Renewable`. A column that another thread was reading is read again."""
        self._lock = Lock()

    def __call__(self) -> EncodedColumn:
        """Return the column."""
        with self._lock:
            if self._column is None:
                assert self._read is not None
                self._column, self._read = self._read(), None  # the function may hold a file open
            return self._column


class UnreadColumns(Mapping[str, EncodedColumn]):
    """Columns that are read at their first use. `readers`: what reads each of them, by name."""

    def __init__(self, readers: Mapping[str, ColumnReader]) -> None:
        self.readers = dict(readers)

    def __getitem__(self, name: str) -> EncodedColumn:
        return self.readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def __len__(self) -> int:
        return len(self.readers)


@dataclass(frozen=True, slots=True)
class Main:
    """The main part of a store."""

    columns: Mapping[str, EncodedColumn]  # encoded columns by name
    rows: RowRuns  # numbers of the rows
    _places: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # results of `places_by_code`

    @classmethod
    def empty(cls, schema: Mapping[str, DataType]) -> Main:
        """Return a main without rows."""
        return cls({name: encode(empty_column(type_)) for name, type_ in schema.items()}, RowRuns.of_runs([], []))

    def reader(self, name: str) -> Callable[[], EncodedColumn]:
        """Return a function that returns a column, which may not be read yet."""
        if isinstance(self.columns, UnreadColumns):
            return self.columns.readers[name]
        column = self.columns[name]
        return lambda: column

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.columns.values())

    def places_by_code(self, name: str, context: Context) -> Any:
        """Return the position of the row with each code, of a column of distinct values. The first call finds them."""
        if name not in self._places:
            column = self.columns[name]
            if column.null_count or len(column.dictionary) != column.length:
                raise SourceError(f"the main is damaged: its key column {name!r} has a null, or a value in two rows")
            codes = codes_of(column, context=context)
            places: Any = np.zeros(len(codes), np.uint32)
            places[codes] = np.arange(len(codes), dtype=np.uint32)
            self._places[name] = places
        return self._places[name]

    @contextmanager
    def merging(self, delta_of: Callable[[str], Column], rows: RowRuns, keep: Any, context: Context) -> Iterator[MergingMain]:
        """Merge these rows and then those of a delta during the body, on the host or the context's GPU, with the same bits.

        So columns are written while others are merged.

        `delta_of`: returns the column of the delta with a name.
        `keep`: mask of the rows of both that remain, an array of bools; None for all rows.
        """
        remaining = rows if keep is None else RowRuns.of_numbers(rows.numbers()[keep])
        with merging_columns(self.columns, delta_of, keep, context) as columns:
            yield MergingMain(columns, remaining)

    def records(self) -> Iterator[MainRecord]:
        """Yield the records of the main's file."""
        types = {name: column.type for name, column in self.columns.items()}
        return _records(types, self.rows, self.columns.values())

    @classmethod
    def of_records(cls, records: Sequence[MainRecord], schema: Mapping[str, DataType]) -> Main:
        """Return the main of the records of a file, whose columns are read at their first use.

        Columns whose records are damaged have nulls only. Raise SourceError if the records are not those of a main with this
        schema. Raise MemoryLimitError if they have more rows than the machine has bytes of memory.
        """
        with records[0].place.decoding():
            description, runs, *columns = records
            described = json.loads(bytes(description.content()))
            if described["columns"] != _described(schema) or [record.kind for record in records] != _kinds(len(schema)):
                raise ValueError("its columns are not those of the manifest")
        with runs.place.decoding():
            rows = _row_runs(runs.content())
            if len(rows) != described["rows"]:
                raise ValueError(f"it has {len(rows)} rows, and the description of the main has {described['rows']}")
        _check_fits(len(rows), runs.place.where)
        readers = {
            name: ColumnReader(partial(_column, record, type_, len(rows)))
            for (name, type_), record in zip(schema.items(), columns, strict=True)
        }
        return cls(UnreadColumns(readers), rows)


@dataclass(frozen=True, slots=True)
class MergingMain:
    """A main whose columns other threads are merging."""

    _columns: Mapping[str, Future[EncodedColumn]]
    _rows: RowRuns

    def records(self, types: Mapping[str, DataType]) -> Iterator[MainRecord]:
        """Yield the records of the main's file, each column when it is merged. `types`: type of each column."""
        return _records(types, self._rows, (self._columns[name].result() for name in types))

    def main(self) -> Main:
        """Return the main when all columns are merged."""
        return Main({name: column.result() for name, column in self._columns.items()}, self._rows)


def _records(types: Mapping[str, DataType], rows: RowRuns, columns: Iterable[EncodedColumn]) -> Iterator[MainRecord]:
    """Yield the records of a main's file."""
    text = json.dumps({"columns": _described(types), "rows": len(rows)}, ensure_ascii=False)
    yield MainRecord(RecordKind.MAIN, (text.encode(),))
    runs = rows.starts, np.diff(rows.places)
    yield MainRecord(RecordKind.ROWS, tuple(np.ascontiguousarray(part, "<u8").tobytes() for part in runs))
    for column in columns:
        yield MainRecord(RecordKind.COLUMN, _parts(column))


def _described(schema: Mapping[str, DataType]) -> list[dict[str, str]]:
    return [{"name": name, "type": str(type_)} for name, type_ in schema.items()]


def _kinds(columns: int) -> list[int]:
    return [RecordKind.MAIN, RecordKind.ROWS, *[RecordKind.COLUMN] * columns]


def _row_runs(content: bytes | memoryview) -> RowRuns:
    """Return the numbers of rows. Raise ValueError if they do not ascend, or are too large."""
    starts, lengths = np.frombuffer(content, "<u8").reshape(2, -1).copy()  # later mains keep the runs
    is_small = all(len(part) == 0 or int(part.max()) <= MAX_NUMBER for part in (starts, lengths))
    if not is_small or not lengths.all() or (starts[1:] < starts[:-1] + lengths[:-1]).any():
        raise ValueError("its runs of row numbers overlap, are empty, or are too large")
    return RowRuns.of_runs(starts, lengths)


def _check_fits(rows: int, where: str) -> None:
    """Raise MemoryLimitError if rows are more than the machine's bytes of memory, since each use of a column needs more.

    A forged file can have any number of them: codes of a column of one value have no bits.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if rows > memory:
        raise MemoryLimitError(f"the main of {where!r} has {rows:_} rows, and this machine has {memory:_} bytes of memory")


def _parts(column: EncodedColumn) -> tuple[bytes | memoryview, ...]:
    """Return the content of a column: sizes, the dictionary as an Arrow IPC stream, codes, validity. Buffers are not copied."""
    dictionary = ipc_parts({_VALUES: column.dictionary})
    words = memoryview(column.words)
    validity = memoryview(b"" if column.validity is None else column.validity)
    sizes = _SIZES.pack(column.null_count, sum(map(len, dictionary)), len(words), len(validity))
    return sizes, *dictionary, words, validity


def _column(record: MainRecord, type_: DataType, length: int) -> EncodedColumn:
    """Return the column of a record. Its buffers are parts of the file's memory, and no merge keeps any of them."""
    if record.is_lost:
        return encode(column_of_nulls(type_, length))
    payload = memoryview(record.content())
    with record.place.decoding():
        nulls, *sizes = _SIZES.unpack_from(payload)
        ends = list(accumulate(sizes, initial=_SIZES.size))
        if ends[-1] != len(payload) or any(end % 8 for end in ends[:-1]):
            raise ValueError("the sizes of its parts are wrong")
        dictionary, words, validity = (part_of(payload[begin:end]) for begin, end in pairwise(ends))
        values = columns_in(dictionary)[_VALUES]
        if values.type != type_:
            raise ValueError(f"its values are of type {values.type}, and those of the manifest of type {type_}")
        column = EncodedColumn(values, words, length, nulls, validity if validity.nbytes else None)
        check_column(column)
        return column
