"""Converts tables to objects of other libraries, and writes tables and scans to files."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from headrace.api.optional import duckdb_connection, needed, pandas_types
from headrace.columns.column import Column
from headrace.columns.placement import moved_all
from headrace.core.device import Device
from headrace.core.options import flag
from headrace.encode.texts import as_plain
from headrace.export.arrow.arrow import stream_capsule

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from headrace.export.text.write_csv import Writable


class ArrowWrites:
    """Methods that write an object with ``__arrow_c_stream__``, batch by batch."""

    __slots__ = ()

    @abstractmethod
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow C stream."""

    @overload
    def write_csv(self, path_or_file: None = None, **options: Any) -> bytes: ...
    @overload
    def write_csv(self, path_or_file: str | os.PathLike[str] | Writable, **options: Any) -> None: ...
    def write_csv(self, path_or_file: str | os.PathLike[str] | Writable | None = None, **options: Any) -> bytes | None:
        """Write the rows as delimited text; see `headrace.write_csv` for the options."""
        from headrace.export.text.write_csv import write_csv  # not needed to read

        return write_csv(self, path_or_file, **options)

    def write_parquet(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the rows as a Parquet file, atomically; `options` are those of ``pyarrow.parquet.ParquetWriter``.

        Raises
        ------
        MissingDependencyError
            PyArrow is not installed.
        OSError
            The file cannot be written.
        """
        from headrace.export.files import write_parquet  # not needed to read

        write_parquet(self, path, **options)


class Conversions:
    """Conversions of a table."""

    __slots__ = ()

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Mapping from name to column."""

    @property
    @abstractmethod
    def device(self) -> Device:
        """Device of the columns."""

    def to_torch(self) -> dict[str, Any]:
        """Return a mapping from name to PyTorch tensor, through DLPack, on the same device. See `Column.__dlpack__`.

        Raises
        ------
        BufferError
            A column does not hold numbers, or has nulls. Select the columns first.
        """
        torch = needed("torch", None, "to_torch()")
        return {name: torch.from_dlpack(column) for name, column in self.columns.items()}

    def to_cudf(self) -> Any:
        """Return a cuDF data frame. cuDF copies a table in host memory to the GPU."""
        module = needed("cudf", None, "to_cudf()")
        if self.device.kind == "cpu":
            return module.DataFrame.from_arrow(self.to_arrow())
        plc = __import__("pylibcudf").Table.from_arrow(self)
        columns = zip(self.columns, plc.columns(), strict=True)
        return module.DataFrame({name: module.Series.from_pylibcudf(column) for name, column in columns})

    def to_arrow(self, *, views: bool = False) -> pa.Table:
        """Return a PyArrow table that shares this table's memory, or a copy of it if it is on a GPU.

        Parameters
        ----------
        views
            Whether string views stay views. By default they are copied to ``string`` or ``large_string``, because PyArrow cannot
            filter, sort or take views.
        """
        columns = moved_all(self.columns, "cpu")
        if not flag("views", views):
            columns = {name: as_plain(column) for name, column in columns.items()}
        return needed("pyarrow", "arrow", "to_arrow()").table(_Exported(columns))

    def to_pandas(self, *, dtype_backend: Literal["numpy_nullable", "pyarrow"] | None = None) -> pd.DataFrame:
        """Return a pandas data frame, converted by PyArrow.

        Parameters
        ----------
        dtype_backend
            None: integers with nulls become floats, timestamps ``datetime64``. ``"numpy_nullable"``: integers, floats, bools and
            strings have the types of pandas with nulls, such as ``Int64``. ``"pyarrow"``: all columns keep their Arrow type.
        """
        needed("numpy", "pandas", "to_pandas()")  # without it pandas raises an error of its own
        pandas = needed("pandas", "pandas", "to_pandas()")
        mapper = None if dtype_backend is None else pandas_types(pandas, dtype_backend)
        frame: pd.DataFrame = self.to_arrow().to_pandas(types_mapper=mapper)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame."""
        return needed("polars", "polars", "to_polars()").DataFrame(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Return a DuckDB relation that reads this table's memory, of `connection` or of DuckDB's default connection."""
        return duckdb_connection(connection).from_arrow(self.to_arrow())

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return a mapping from name to NumPy array. See `Column.to_numpy`."""
        return {name: column.to_numpy() for name, column in self.columns.items()}

    def to_pydict(self) -> dict[str, list[Any]]:
        """Return a mapping from name to list of Python values. See `Column.to_pylist`."""
        return {name: column.to_pylist() for name, column in self.columns.items()}


@dataclass(frozen=True, slots=True)
class _Exported:
    """Columns in host memory that PyArrow takes."""

    columns: Mapping[str, Column]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return stream_capsule(self.columns, max(map(len, self.columns.values()), default=0))
