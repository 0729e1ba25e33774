"""Defines `SqlRows`: the rows of a store as a data set of Arrow, of which DuckDB reads the columns that a query uses.

DuckDB passes the names of these columns to the data set's `scanner`. So a query of 2 columns of 20 decodes 2. Queries share an
empty database, since a new one takes 13 ms.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from pyarrow.dataset import Dataset, dataset

from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.core.errors import OptionError, shown
from headrace.store.dictionary.items import empty_column

if TYPE_CHECKING:
    from headrace.core.context import Context
    from headrace.store.state import StoreState

_MAX_MESSAGE = 500  # characters of a message of DuckDB that are shown
_INTERRUPTED = re.compile(r"failed: KeyboardInterrupt:\s*\Z|\AQuery interrupted\Z")
"""Messages by which DuckDB replaces a `KeyboardInterrupt`."""
_MICROSECONDS = """case when datepart('year', #{0}) <> 0 or datepart('month', #{0}) <> 0
then error('the query returns an interval with months; cast it to a text') else epoch_us(#{0}) end"""
_databases: dict[tuple[int, int], Any] = {}
"""Empty databases in memory by process and number of threads. A forked process has no such threads, so a fork closes them."""
os.register_at_fork(before=_databases.clear)


class SqlRows(Dataset):  # type: ignore[misc]  # PyArrow has no types
    """The rows of a state, which are decoded when they are scanned.

    `query`: The query. Columns whose names are not in it are not looked at before they are scanned.
    """

    def __init__(self, state: StoreState, context: Context, query: str) -> None:
        self._state, self._context = state, context
        self._few = frozenset(state.names_of_few(name for name in state.schema if _has_word(query, name)))
        self._schema = _schema_of({name: empty_column(type_) for name, type_ in state.schema.items()}, self._few)
        self.error: BaseException | None = None  # Exception of a scan. DuckDB replaces it by its own, which has the text alone.

    @property
    def schema(self) -> Any:
        """Schema of all columns."""
        return self._schema

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **options: Any) -> Any:  # noqa: A002  its name in Arrow
        """Return a scanner of the rows; the parameters are those of Arrow's `Dataset.scanner`."""
        try:
            names = self._schema.names
            if columns is not None:
                names = [name for name in names if name in columns or _has_word(str(filter), name)]
            schema = pa.schema([self._schema.field(name) for name in names])
            parts = (pa.table(Table(part)).cast(schema) for part in self._state.parts(names, self._few, self._context))
            return dataset(pa.concat_tables(parts)).scanner(columns=columns, filter=filter, **options)
        except BaseException as error:
            self.error = error
            raise


def _has_word(condition: str, name: str) -> bool:
    """Return whether a condition or a query may read a column: its text has the name, as a whole word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", condition, re.IGNORECASE) is not None


def _schema_of(columns: Mapping[str, Column], few: Container[str]) -> Any:
    """Return the schema of columns, with texts of any number of bytes: decoded texts have offsets of either width."""
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
    few_texts = pa.dictionary(pa.int32(), pa.string())
    fields = pa.schema(Table(columns))
    return pa.schema([field.with_type(few_texts if field.name in few else wide.get(field.type, field.type)) for field in fields])


def result_of(query: str, rows: SqlRows, threads: int) -> Table:
    """Return the result of a query, in which the table ``store`` has the rows.

    Raise OptionError if DuckDB refuses the query, or it returns no rows, or an interval has months. Raise KeyboardInterrupt if it
    was interrupted.
    """
    try:
        with _connected(query, threads) as connection:
            connection.register("store", rows)
            found = connection.sql(query)
            if found is None:
                raise OptionError(f"query returns no rows: {shown(query)}")
            return Table.from_arrow(_with_durations(found))
    except (duckdb.Error, RuntimeError) as error:
        if rows.error is not None:
            raise rows.error from None
        if _INTERRUPTED.search(str(error)):
            raise KeyboardInterrupt from None
        if not isinstance(error, duckdb.Error):
            raise
        raise OptionError(f"DuckDB refuses the query: {str(error)[:_MAX_MESSAGE]}") from None


def _with_durations(found: Any) -> Any:
    """Return the result of DuckDB as a table of Arrow, its intervals as durations of microseconds: DuckDB has no durations.

    DuckDB takes them out as numbers, since those of Arrow's intervals wrap after 292 years.
    """
    places = [place for place, type_ in enumerate(found.types) if str(type_) == "INTERVAL"]
    if not places:
        return found.to_arrow_table()
    names = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in found.columns]
    parts = [(_MICROSECONDS if place in places else "#{0}").format(place + 1) for place in range(len(names))]
    table = found.project(", ".join(f"{part} as {name}" for part, name in zip(parts, names, strict=True))).to_arrow_table()
    for place in places:
        table = table.set_column(place, table.field(place).name, table.column(place).cast(pa.duration("us")))
    return table


def _connected(query: str, threads: int) -> Any:
    """Return a connection without tables. It has a database of its own if the query may leave something there."""
    place = os.getpid(), threads
    database = _databases.get(place) or _databases.setdefault(place, _new_database(threads))
    connection = database.cursor()
    if all(statement.type is duckdb.StatementType.SELECT for statement in connection.extract_statements(query)):
        return connection
    return _new_database(threads)


def _new_database(threads: int) -> Any:
    # With replacements, variables of this module are tables.
    return duckdb.connect(config={"threads": threads, "python_enable_replacements": False})
