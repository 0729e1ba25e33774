"""Defines `Table`: named columns of equal length, with conversions to other libraries."""

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
from headrace.core.lazy import LazyMapping
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
        self,
        columns: Mapping[str, Column],
        *,
        rejects: Table | None = None,
        report: Report | Callable[[], Report] | None = None,
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
        if report is not None and not isinstance(report, Report) and (isinstance(report, type) or not callable(report)):
            raise OptionError.wrong("report", "a Report or None", report)
        # Only the dictionary refers to the columns. It releases them in their order, so that the next table reuses their memory.
        self._rejects = rejects
        self._report = report

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
        return MappingProxyType(self._columns)

    @property
    def schema(self) -> Mapping[str, DataType]:
        """Mapping from name to type."""
        return MappingProxyType({name: column.type for name, column in self._columns.items()})

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
        if self._report is None:
            raise AttributeError("only a table that a read returns has a report")
        if not isinstance(self._report, Report):
            self._report = self._report()
        return self._report

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
    def __getitem__(self, key: slice) -> Table: ...
    def __getitem__(self, key: str | int | slice) -> Column | Table:
        """Return a column, by name or position; or, for a slice, a table of these rows that shares this table's memory."""
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
        """Return the Arrow C schema of a struct of the columns."""
        return schema_capsule(self._columns)

    def to_torch(self) -> dict[str, Any]:
        """Return a mapping from name to PyTorch tensor, through DLPack, on the same device. See `Column.__dlpack__`.

        Raises
        ------
        BufferError
            A column does not hold numbers, or has nulls. Select the columns first.
        """
        torch = needed("torch", None, "to_torch()")
        return {name: torch.from_dlpack(column) for name, column in self._columns.items()}

    def to_cudf(self) -> Any:
        """Return a cuDF data frame. cuDF copies a table in host memory to the GPU."""
        module = needed("cudf", None, "to_cudf()")
        if self.device.kind == "cpu":
            return module.DataFrame.from_arrow(self.to_arrow())
        plc = __import__("pylibcudf").Table.from_arrow(self)
        columns = zip(self._names, plc.columns(), strict=True)
        return module.DataFrame({name: module.Series.from_pylibcudf(column) for name, column in columns})

    def to_arrow(self, *, views: bool = False) -> pa.Table:
        """Return a PyArrow table that shares this table's memory, or a copy of it if it is on a GPU.

        Parameters
        ----------
        views
            Whether string views stay views. By default they are copied to ``string`` or ``large_string``, because PyArrow cannot
            filter, sort or take views.
        """
        columns = moved_all(self._columns, "cpu")
        if not flag("views", views):
            columns = {name: as_plain(column) for name, column in columns.items()}
        return needed("pyarrow", "arrow", "to_arrow()").table(Table(columns))

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame, converted by PyArrow: integers with nulls become floats, timestamps ``datetime64``."""
        needed("pandas", "pandas", "to_pandas()")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame."""
        return needed("polars", "polars", "to_polars()").DataFrame(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Return a DuckDB relation that reads this table's memory, of `connection` or of DuckDB's default connection."""
        return duckdb_connection(connection).from_arrow(self.to_arrow())

    def partition(
        self, by: str, buckets: BucketFunction, *, context: Context | None = None
    ) -> tuple[Table, np.ndarray[Any, Any]]:
        """Return the rows grouped by the bucket of one column's value. Rows of a bucket keep their order. Needs NumPy.

        The work runs on the device of the table. From a GPU only the offsets are copied to the host.

        Parameters
        ----------
        by
            Name of a column of integers or floats without nulls.
        buckets
            A bucket function of `headrace.buckets`, such as ``buckets.splitters([0, 10, 100])``.
        context
            Number of threads and memory limit. None for the defaults.

        Returns
        -------
        tuple
            The table, and int64 offsets: bucket `i` has the rows ``offsets[i]`` up to, and without, ``offsets[i + 1]``.

        Raises
        ------
        UnknownColumnError
            There is no such column. The error is a `KeyError` too.
        OptionError
            The column holds other values, some values are in no bucket, or the columns are on several devices.
        """
        from headrace.arrange.partition_rows.rows import partition_rows  # not needed to read

        _name_of("by", by, self._columns)
        columns, offsets = partition_rows(self._columns, by, buckets, context_of(context))
        return Table(columns), offsets

    def partition_by_hash(
        self, columns: str | Sequence[str], n: int, *, context: Context | None = None
    ) -> tuple[Table, np.ndarray[Any, Any]]:
        """Return the rows grouped into `n` buckets by a hash of some columns. Rows that are equal there share a bucket.

        Needs NumPy. The hash depends only on the values. Tables of the same types that are partitioned by the same columns can
        therefore be joined bucket by bucket, on any machine. Nulls are equal to each other, as are -0.0 and 0.0, all NaN, and
        equal texts of any string type.

        Parameters
        ----------
        columns
            Name of a column, or several.
        n
            Number of buckets.
        context
            Number of threads and memory limit. None for the defaults.

        Returns
        -------
        tuple
            As for `partition`.

        Raises
        ------
        UnknownColumnError
            There is no such column. The error is a `KeyError` too.
        OptionError
            `n` is not a valid number of buckets, or the columns are on several devices.

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
        """Return a mapping from name to NumPy array. See `Column.to_numpy`."""
        return {name: column.to_numpy() for name, column in self._columns.items()}

    def to_pydict(self) -> dict[str, list[Any]]:
        """Return a mapping from name to list of Python values. See `Column.to_pylist`."""
        return {name: column.to_pylist() for name, column in self._columns.items()}

    def __repr__(self) -> str:
        from headrace.api.picture import table_picture  # not needed to read

        return table_picture(self._columns, self.num_rows)

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        from headrace.api.html import table_html  # not needed to read

        return table_html(self._columns, self.num_rows)


def _name_of(option: str, name: object, columns: Mapping[str, Column]) -> str:
    """Return the name in an option, or raise if there is no such column."""
    if not isinstance(name, str) or name not in columns:
        raise UnknownColumnError.unknown(f"column in {option}", name, columns)
    return name


def _check_columns(columns: object) -> None:
    """Raise OptionError if `columns` is not a mapping from names to columns."""
    if not isinstance(columns, Mapping):
        raise OptionError.wrong("columns", "a mapping of names to columns", columns)
    for name, column in columns.items():
        if not isinstance(name, str) or not isinstance(column, Column):
            raise OptionError(f"columns must map names to columns, not {shown(name)} to {shown(column)}")
