"""A table: named columns of one length, and the ways out to other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from headrace.api.optional import duckdb_connection, needed
from headrace.api.report import Report
from headrace.columns.column import Column
from headrace.columns.placement import moved_all
from headrace.columns.types import DataType
from headrace.core.context import Context, context_of
from headrace.core.device import Device
from headrace.core.errors import OptionError, OutOfRangeError, UnknownColumnError, shown
from headrace.core.lazy import Named
from headrace.core.options import flag, index_of, instance
from headrace.encode.texts import as_plain
from headrace.export.arrow.arrow import device_batch, schema_capsule, stream_capsule

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from headrace.arrange.bucket.functions import BucketFunction


class Table:
    """Columns by name, in order; immutable.

    Parameters
    ----------
    columns
        Name to column, all of one length.
    rejects
        One row for each fault of the read: ``record``, ``kept``, ``line``, ``line_byte``, ``byte``, ``column``, ``kind``,
        ``expected``, ``field``, ``text``.
    report
        Account of the read, or what makes it when it is asked for.
    """

    __slots__ = ("_columns", "_names", "_rejects", "_report")

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        rejects: Table | None = None,
        report: Report | Callable[[], Report] | None = None,
    ) -> None:
        self._columns: Mapping[str, Column]
        if isinstance(columns, Named):  # a read's, which makes each when it is asked for
            self._columns, self._names = columns, columns.names
        else:
            _check_columns(columns)
            lengths = {len(column) for column in columns.values()}
            if len(lengths) > 1:
                raise OptionError(f"columns of a table have one length, not {sorted(lengths)}")
            self._columns, self._names = dict(columns), tuple(columns)
        if rejects is not None:
            instance("rejects", rejects, Table)
        if report is not None and not isinstance(report, Report) and (isinstance(report, type) or not callable(report)):
            raise OptionError.wrong("report", "a Report or None", report)
        # Columns are held by the dictionary alone, which lets go of them in their order: so the next table finds their memory.
        self._rejects = rejects
        self._report = report

    @property
    def num_rows(self) -> int:
        """Rows."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    @property
    def num_columns(self) -> int:
        """Columns."""
        return len(self._columns)

    @property
    def column_names(self) -> list[str]:
        """Names, in order."""
        return list(self._columns)

    @property
    def columns(self) -> Mapping[str, Column]:
        """Name to column."""
        return MappingProxyType(self._columns)

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Name to type."""
        return MappingProxyType({name: column.type for name, column in self._columns.items()})

    @property
    def rejects(self) -> Table:
        """Faults of the read that made this table, one row each; empty if there were none."""
        return self._rejects if self._rejects is not None else Table({})

    @property
    def report(self) -> Report:
        """Account of the read that made this table.

        Raises
        ------
        AttributeError
            No read made it: it is a slice, or a table of rejects.
        """
        if self._report is None:
            raise AttributeError("only the table that a read gives has a report")
        if not isinstance(self._report, Report):
            self._report = self._report()
        return self._report

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        """Refuse: an array has one type, and what makes one of a sequence would take the names for data.

        Raises
        ------
        OptionError
            Always.
        """
        raise OptionError(
            "a table is no array: to_pandas() makes a data frame of it, to_numpy() an array of each column, and "
            "table['name'] is a single column"
        )

    @overload
    def __getitem__(self, key: str | int) -> Column: ...
    @overload
    def __getitem__(self, key: slice) -> Table: ...
    def __getitem__(self, key: str | int | slice) -> Column | Table:
        """Column by name or position; or rows, sharing this table's memory."""
        if isinstance(key, slice):
            return Table({name: column[key] for name, column in self._columns.items()})
        if isinstance(key, str):
            if key not in self._columns:
                header = None if self._report is None else self.report.header
                error = UnknownColumnError.unknown("column", key, self._columns)
                raise error if header is None else UnknownColumnError(f"{error}{header.advice}")
            return self._columns[key]
        position = index_of(key)
        if position is None:
            raise TypeError(f"key must be a column's name, its position or a slice of rows, not {shown(key)}")
        if not -self.num_columns <= position < self.num_columns:
            raise OutOfRangeError(f"column {shown(position)} of a table with {self.num_columns} columns")
        return self._columns[self._names[position]]

    @property
    def device(self) -> Device:
        """Where its columns lie, or the first of them if they lie on several; of a table without any, the host."""
        return next((column.device for column in self._columns.values()), Device())

    def to(self, device: Device | str, *, context: Context | None = None) -> Table:
        """The table on a device, rejects excepted; see `Column.to`. The context's memory limit holds for all columns together.

        Examples
        --------
        ``table.to("cuda")`` copies all columns to the first GPU, ``table.to("cpu")`` back.
        """
        return Table(moved_all(self._columns, device, context), rejects=self._rejects, report=self._report)

    def __arrow_c_device_array__(self, requested_schema: object = None, **options: object) -> tuple[object, object]:
        """Arrow C device interface: a struct of the columns, without a copy, where they lie."""
        return device_batch(self._columns, self.num_rows, self.device)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow C stream of one batch, without a copy (from a GPU, with one). A requested schema is ignored, as is allowed."""
        return stream_capsule(self.to("cpu").columns, self.num_rows)

    def __arrow_c_schema__(self) -> object:
        """Arrow C schema: a struct of the columns."""
        return schema_capsule(self._columns)

    def to_torch(self) -> dict[str, Any]:
        """Name to PyTorch tensor, by DLPack, where it lies; see `Column.__dlpack__` for what can be one.

        Raises
        ------
        BufferError
            A column is no array of numbers, or has nulls. Choose columns first.
        """
        torch = needed("torch", None, "to_torch()")
        return {name: torch.from_dlpack(column) for name, column in self._columns.items()}

    def to_cudf(self) -> Any:
        """cuDF data frame; a table on the host is copied to the GPU by cuDF."""
        module = needed("cudf", None, "to_cudf()")
        if self.device.kind == "cpu":
            return module.DataFrame.from_arrow(self.to_arrow())
        plc = __import__("pylibcudf").Table.from_arrow(self)
        columns = zip(self._names, plc.columns(), strict=True)
        return module.DataFrame({name: module.Series.from_pylibcudf(column) for name, column in columns})

    def to_arrow(self, *, views: bool = False) -> pa.Table:
        """PyArrow table on this table's memory, or on a copy of it if that is on a GPU.

        Parameters
        ----------
        views
            Whether string views stay what they are. By default they become ``string`` or ``large_string``, which costs a copy:
            PyArrow cannot filter, sort or take them.
        """
        columns = moved_all(self._columns, "cpu")
        if not flag("views", views):
            columns = {name: as_plain(column) for name, column in columns.items()}
        return needed("pyarrow", "arrow", "to_arrow()").table(Table(columns))

    def to_pandas(self) -> pd.DataFrame:
        """pandas data frame, converted by PyArrow: integers with nulls become floats, timestamps ``datetime64``."""
        needed("pandas", "pandas", "to_pandas()")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Polars data frame."""
        return needed("polars", "polars", "to_polars()").DataFrame(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """DuckDB relation that reads this table's memory, in `connection` or in DuckDB's default one."""
        return duckdb_connection(connection).from_arrow(self.to_arrow())

    def partition(
        self, by: str, buckets: BucketFunction, *, context: Context | None = None
    ) -> tuple[Table, np.ndarray[Any, Any]]:
        """Rows in the order of the buckets of one column's values; within a bucket they keep their order. Needs NumPy.

        Work runs where the table lies; of a GPU the offsets alone come to the host.

        Parameters
        ----------
        by
            Name of a column of integers or floats without nulls.
        buckets
            A function of `headrace.buckets`, such as ``buckets.splitters([0, 10, 100])``.
        context
            Threads and memory that may be used.

        Returns
        -------
        tuple
            The table, and int64 offsets: bucket `i` has the rows ``offsets[i]`` to before ``offsets[i + 1]``.

        Raises
        ------
        UnknownColumnError
            There is no such column. The error is a `KeyError` too.
        OptionError
            It holds no such values, some of them are in no bucket, or columns lie on several devices.
        """
        from headrace.arrange.partition_rows.rows import partition_rows  # not needed to read

        _name_of("by", by, self._columns)
        columns, offsets = partition_rows(self._columns, by, buckets, context_of(context))
        return Table(columns), offsets

    def partition_by_hash(
        self, columns: str | Sequence[str], n: int, *, context: Context | None = None
    ) -> tuple[Table, np.ndarray[Any, Any]]:
        """Rows in `n` buckets by a hash of their values in `columns`: rows that are equal there share a bucket. Needs NumPy.

        The hash depends on values alone, so tables of the same types that are partitioned alike can be joined bucket by bucket,
        on any machine. Nulls are equal, as are -0.0 and 0.0, and all NaN; so are texts in any form.

        Parameters
        ----------
        columns
            Name of a column, or several.
        n
            How many buckets.
        context
            Threads and memory that may be used.

        Returns
        -------
        tuple
            As `partition` gives it.

        Raises
        ------
        UnknownColumnError
            There is no such column. The error is a `KeyError` too.
        OptionError
            `n` is no number of buckets, or columns lie on several devices.

        Examples
        --------
        >>> import headrace
        >>> table = headrace.read_csv(b"city,n\\nRome,1\\nOslo,2\\nRome,3\\n")
        >>> parted, offsets = table.partition_by_hash("city", 4)
        >>> sorted(parted["city"].to_pylist()), int(offsets[-1])
        (['Oslo', 'Rome', 'Rome'], 3)
        """
        from headrace.arrange.partition_rows.rows import partition_rows_by_hash  # not needed to read

        several = [columns] if isinstance(columns, str) else columns
        if isinstance(several, bytes | bytearray | Mapping) or not isinstance(several, Sequence | AbstractSet):
            raise OptionError.wrong("columns", "the name of a column or several", columns)
        by = [_name_of("columns", name, self._columns) for name in several]
        if not by:
            raise OptionError("columns is empty; name one column or several")
        found, offsets = partition_rows_by_hash(self._columns, by, n, context_of(context))
        return Table(found), offsets

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """Name to NumPy array; see `Column.to_numpy`."""
        return {name: column.to_numpy() for name, column in self._columns.items()}

    def to_pydict(self) -> dict[str, list[Any]]:
        """Name to list of Python values; see `Column.to_pylist`."""
        return {name: column.to_pylist() for name, column in self._columns.items()}

    def __repr__(self) -> str:
        from headrace.api.picture import table_picture  # not needed to read

        return table_picture(self._columns, self.num_rows)

    def _repr_html_(self) -> str:
        """The table as notebooks show it."""
        from headrace.api.html import table_html  # not needed to read

        return table_html(self._columns, self.num_rows)


def _name_of(option: str, name: object, columns: Mapping[str, Column]) -> str:
    """The name of a column that an option holds."""
    if not isinstance(name, str) or name not in columns:
        raise UnknownColumnError.unknown(f"column in {option}", name, columns)
    return name


def _check_columns(columns: object) -> None:
    """Raise OptionError unless `columns` maps names to columns."""
    if not isinstance(columns, Mapping):
        raise OptionError.wrong("columns", "a mapping of names to columns", columns)
    for name, column in columns.items():
        if not isinstance(name, str) or not isinstance(column, Column):
            raise OptionError(f"columns must map names to columns, not {shown(name)} to {shown(column)}")
