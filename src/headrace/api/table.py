"""Defines `Table`: named columns of equal length, with conversions to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from headrace.api.conversions import ArrowWrites, Conversions
from headrace.api.equal_rows import EqualRows
from headrace.api.partitions import Partitions, existing_name
from headrace.columns.column import Column
from headrace.columns.placement import moved_all
from headrace.columns.schema import is_name
from headrace.columns.types import DataType
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError, OutOfRangeError, UnknownColumnError, shown
from headrace.core.foreign_names import Columns, ForeignNames, Schema
from headrace.core.lazy import LazyMapping
from headrace.core.options import MOST, flag, index_of, instance, integer
from headrace.export.arrow.arrow import device_batch, schema_capsule, stream_capsule

if TYPE_CHECKING:
    import numpy as np

    from headrace.api.report import Report
    from headrace.core.expressions.column_expression import ColumnExpression


class Table(Conversions, ArrowWrites, Partitions, EqualRows, ForeignNames):
    """An immutable table: columns by name, in order.

    Parameters
    ----------
    columns
        Mapping from name to column. All columns have one length.
    rejects
        Table of the faults of the read, one row each, with the columns ``record``, ``kept``, ``line``, ``line_byte``, ``byte``,
        ``column``, ``kind``, ``expected``, ``field`` and ``text``. None for no faults.
    report
        Report of the read, or a function that creates it at its first use. None for a table that no read created.
    """

    __slots__ = ("_columns", "_names", "_rejects", "_report")

    def __init__(
        self, columns: Mapping[str, Column], *, rejects: Table | None = None, report: Report | Callable[[], Report] | None = None
    ) -> None:
        self._columns: Mapping[str, Column]
        if isinstance(columns, LazyMapping):  # of a read: each column is created at its first use
            self._columns, self._names = columns, columns.names
        else:
            _check_columns(columns)
            lengths = {len(column) for column in columns.values()}
            if len(lengths) > 1:
                raise OptionError(f"columns of a table have one length, not {sorted(lengths)}")
            self._columns, self._names = dict(columns), tuple(columns)
        if rejects is not None:
            instance("rejects", rejects, Table)
        if report is not None and (isinstance(report, type) or not callable(report)):
            from headrace.api.report import Report  # a read passes a function

            instance("report", report, Report, "a Report or None")
        # Only the dictionary refers to the columns. It releases them in their order, so that the next table reuses their memory.
        self._rejects = rejects
        self._report = report

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        """Return the slots with all columns and the report created; the function that creates it refers to a plan."""
        report = None if self._report is None else self.report
        return None, {"_columns": dict(self._columns), "_names": self._names, "_rejects": self._rejects, "_report": report}

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self._columns)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._columns)

    @property
    def columns(self) -> Mapping[str, Column]:
        """Mapping from name to column."""
        return Columns(self._columns)

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Mapping from name to type."""
        return Schema({name: column.type for name, column in self._columns.items()})

    @property
    def rejects(self) -> Table:
        """Faults of the read that created this table, one row each; empty if there were none."""
        return self._rejects if self._rejects is not None else Table({})

    @property
    def report(self) -> Report:
        """Report of the read that created this table.

        Raises
        ------
        AttributeError
            No read created the table, e.g. because it is a slice of another one, or a table of rejects.
        """
        report = self._report  # read once: another thread may create it meanwhile
        if report is None:
            raise AttributeError("only a table that a read returns has a report")
        if callable(report):
            report = self._report = report()
        return report

    @classmethod
    def from_arrow(cls, data: object) -> Table:
        """Return a copy of a table of PyArrow, Polars, pandas, DuckDB or any library that exports Arrow streams. Needs PyArrow.

        Raises
        ------
        OptionError
            `data` exports no stream, or a column has a type that this package does not have, such as a list.
        MissingDependencyError
            PyArrow is not installed.
        """
        from headrace.export.arrow.from_arrow import columns_from_arrow  # not needed to read

        return cls(columns_from_arrow(data))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.num_rows, self.num_columns

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        """Refuse the conversion: an array has one type, and NumPy would take the names of the columns for data.

        Raises
        ------
        OptionError
            Always.
        """
        raise OptionError(
            "a table cannot become an array; to_pandas() returns a data frame, to_numpy() an array of each column, and "
            "table['name'] a single column"
        )

    @overload
    def __getitem__(self, key: str | int) -> Column: ...
    @overload
    def __getitem__(self, key: slice | list[str] | list[int] | list[str | int]) -> Table: ...
    def __getitem__(self, key: str | int | slice | Sequence[str | int]) -> Column | Table:
        """Return a column, by name or position; for a list, a table of these columns; for a slice, a table of these rows.

        The result shares this table's memory.
        """
        if isinstance(key, slice):
            return Table({name: column[key] for name, column in self._columns.items()})
        if isinstance(key, list):
            return self.select(key)
        if isinstance(key, str):
            if key not in self._columns:
                header = None if self._report is None else self.report.header
                error = UnknownColumnError.unknown("column", key, self._columns)
                raise error if header is None else UnknownColumnError(f"{error}{header.advice}")
            return self._columns[key]
        position = index_of(key)
        if position is None:
            selects = isinstance(key, bool | ForeignNames) or getattr(key, "ndim", 0) == 1
            condition = "; rows are selected by table.filter(headrace.col(name) == value) or table.take(rows)" if selects else ""
            names = "a column's name, its position, a list of them or a slice of rows"
            raise TypeError(f"key must be {names}, not {shown(key)}{condition}")
        if not -self.num_columns <= position < self.num_columns:
            raise OutOfRangeError(f"column {shown(position)} of a table with {self.num_columns} columns")
        return self._columns[self._names[position]]

    def select(self, *columns: str | int | ColumnExpression | Sequence[str | int | ColumnExpression]) -> Table:
        """Return a table of some columns, given by name, position or `col`, in this order. It shares this table's memory.

        Examples
        --------
        >>> import headrace
        >>> table = headrace.read_csv(b"a,b,c\\n1,2,3\\n")
        >>> table.select("c", "a").to_pydict()
        {'c': [3], 'a': [1]}
        """
        names = [self._name(one) for one in _flat(columns)]
        if len(set(names)) < len(names):
            raise OptionError(f"columns holds a column twice: {shown(names)}")
        return Table({name: self._columns[name] for name in names})

    def drop(
        self,
        *names: str | int | Sequence[str | int],
        columns: str | int | Sequence[str | int] = (),
        axis: Literal[1, "columns"] = 1,
    ) -> Table:
        """Return a table without some columns, given by name or position; `columns` are more of them, as pandas names them.

        `axis` is accepted as in pandas; rows are not dropped.

        Raises
        ------
        OptionError
            There is no such column, or `axis` is not that of columns.
        """
        if axis not in (1, "columns"):
            raise OptionError(f"axis={shown(axis)}: only columns are dropped, axis=1; use table.filter(...) for rows")
        dropped = {self._name(one) for one in _flat((*names, columns))}
        return Table({name: column for name, column in self._columns.items() if name not in dropped})

    def rename(
        self, names: Mapping[str, str] | Callable[[str], str] | None = None, *, columns: Mapping[str, str] | None = None
    ) -> Table:
        """Return a table with other names: a mapping of old names to new ones, or a function of a name.

        `columns` is another name of the argument, as in pandas.

        Raises
        ------
        UnknownColumnError
            A name of the mapping is no column's.
        OptionError
            Two columns would have the same name.
        """
        if names is not None and columns is not None:
            raise OptionError("columns is another name of names: pass one of them")
        names = columns if names is None else names
        if isinstance(names, Mapping):
            for old in names:
                existing_name("names", old, self._columns)
            new = [names.get(name, name) for name in self._names]
        elif callable(names) and not isinstance(names, type):
            new = [names(name) for name in self._names]
        else:
            raise OptionError.wrong("names", "a mapping of names to names, or a function of a name", names)
        if wrong := [name for name in new if not is_name(name)]:
            raise OptionError(f"names gives a column the name {shown(wrong[0])}, which is not a text")
        if len(set(new)) < len(new):
            raise OptionError(f"names gives two columns the same name: {shown(new)}")
        return Table(dict(zip(new, self._columns.values(), strict=True)))

    def filter(self, expression: ColumnExpression, *more: ColumnExpression, context: Context | None = None) -> Table:
        """Return the rows for which a condition is true, in their order. Rows where it is null are left out. Needs NumPy.

        The work runs on the device of the table. If all rows are kept, the result shares this table's memory.

        Parameters
        ----------
        expression
            A condition on columns, such as ``headrace.col("price") > 3``; see `headrace.ColumnExpression` for the rules.
        *more
            More conditions, which hold together with the first.
        context
            Number of threads and instruction set. None for the defaults.

        Raises
        ------
        UnknownColumnError
            The expression names a column that the table does not have. The error is a `KeyError` too.
        OptionError
            An operator does not take such values, or the columns are on several devices.

        Examples
        --------
        >>> import headrace
        >>> from headrace import col
        >>> table = headrace.read_csv(b"city,founded\\nRome,-753\\nOslo,1048\\nParis,\\n")
        >>> table.filter((col("founded") > 0) | col("city").str.starts_with("Pa"))["city"].to_pylist()
        ['Oslo', 'Paris']
        """
        from headrace.arrange.filter.filter import filter_columns  # not needed to read
        from headrace.core.expressions.column_expression import all_of

        return Table(filter_columns(self._columns, all_of(expression, *more), context_of(context)))

    def take(self, rows: Any, *, context: Context | None = None) -> Table:
        """Return the rows at given numbers, in the order of the numbers, which may repeat. Needs NumPy.

        The work runs on the device of the table.

        Parameters
        ----------
        rows
            Row numbers from 0: an array of integers of one dimension, a list, a Series or a column. An array may lie on the GPU
            of the table. Negative numbers are refused, since `lookup` returns -1 for rows without a match.
        context
            Number of threads; on a GPU the memory limit too. None for the defaults.

        Raises
        ------
        OutOfRangeError
            A row number is negative or too large; the error names it. The error is an `IndexError` too.
        OptionError
            `rows` has nulls, or items that are no integers, such as bools.

        Examples
        --------
        >>> import headrace
        >>> headrace.read_csv(b"city,n\\nRome,1\\nOslo,2\\n").take([1, 0, 1]).to_pydict()
        {'city': ['Oslo', 'Rome', 'Oslo'], 'n': [2, 1, 2]}
        """
        from headrace.arrange.gather.take import take_columns  # not needed to read

        return Table(take_columns(self._columns, rows, context_of(context)))

    def head(self, n: int = 5) -> Table:
        """Return the first `n` rows; for a negative `n` all rows but the last ``-n``."""
        return self[: _row_count(n)]

    def tail(self, n: int = 5) -> Table:
        """Return the last `n` rows; for a negative `n` all rows but the first ``-n``."""
        return self[max(self.num_rows - n, 0) :] if _row_count(n) >= 0 else self[-n:]

    def items(self) -> Iterator[tuple[str, Column]]:
        """Return an iterator of names and columns."""
        return iter(self._columns.items())

    def iter_rows(self, *, named: bool = False) -> Iterator[Any]:
        """Return an iterator of rows as tuples of Python values, or as dictionaries if `named`. See `Column.to_pylist`.

        Examples
        --------
        >>> import headrace
        >>> list(headrace.read_csv(b"a,b\\n1,x\\n2,\\n").iter_rows(named=True))
        [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
        """
        from headrace.api.table_rows import rows_of  # not needed to read

        rows = rows_of(self.to("cpu").columns, self.num_rows)
        return (dict(zip(self._names, row, strict=True)) for row in rows) if flag("named", named) else rows

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries of Python values. See `Column.to_pylist`."""
        return list(self.iter_rows(named=True))

    def equals(self, other: Table) -> bool:
        """Return whether both tables have the same names in the same order, types and values. Nulls are equal, as are NaN."""
        from headrace.api.table_rows import equal_columns  # not needed to read

        return equal_columns(self.to("cpu").columns, instance("other", other, Table).to("cpu").columns)

    @property
    def device(self) -> Device:
        """Device of the columns, or of the first column if they are on several devices; the CPU for a table without columns."""
        return next((column.device for column in self._columns.values()), Device())

    def to(self, device: Device | str, *, context: Context | None = None) -> Table:
        """Return the table with its columns on a device; rejects stay where they are. See `Column.to`.

        Parameters
        ----------
        device
            ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        context
            Its memory limit applies to all columns together. None for no limit.

        Examples
        --------
        ``table.to("cuda")`` copies all columns to the first GPU, ``table.to("cpu")`` back.
        """
        return Table(moved_all(self._columns, device, context), rejects=self._rejects, report=self._report)

    def __arrow_c_device_array__(self, requested_schema: object = None, **options: object) -> tuple[object, object]:
        """Return the columns as a struct through the Arrow C device interface, without a copy."""
        return device_batch(self._columns, self.num_rows, self.device)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow C stream of one batch, without a copy for a table in host memory. A requested schema is ignored."""
        return stream_capsule(self.to("cpu").columns, self.num_rows)

    def __arrow_c_schema__(self) -> object:
        return schema_capsule(self._columns)

    def __repr__(self) -> str:
        from headrace.columns.picture import table_picture  # not needed to read

        return table_picture(self._columns, self.num_rows)

    def _repr_html_(self) -> str:
        from headrace.columns.html import table_html  # not needed to read

        return table_html(self._columns, self.num_rows)

    def _name(self, key: object) -> str:
        """Return the name of a column that is given by name, position or `col`."""
        position = index_of(key)
        if position is None:
            if not isinstance(key, str):
                from headrace.core.expressions.column_expression import name_of  # not needed to read

                key = name_of(key)
            return existing_name("columns", key, self._columns)
        if not -self.num_columns <= position < self.num_columns:
            raise OutOfRangeError(f"columns has {shown(position)}, and the table has {self.num_columns} columns")
        return self._names[position]


def _flat(columns: tuple[object, ...]) -> list[object]:
    """Return names and positions that are given one by one or in lists."""
    flat: list[object] = []
    for one in columns:
        flat += one if isinstance(one, list | tuple | range) else [one]
    return flat


def _row_count(n: object) -> int:
    return integer("n", n, "an integer", -MOST, MOST)


def _check_columns(columns: object) -> None:
    """Raise OptionError if `columns` is not a mapping from names to columns."""
    if not isinstance(columns, Mapping):
        raise OptionError.wrong("columns", "a mapping of names to columns", columns)
    for name, column in columns.items():
        if not isinstance(name, str) or not isinstance(column, Column):
            raise OptionError(f"columns must map names to columns, not {shown(name)} to {shown(column)}")
