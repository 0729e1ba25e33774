"""Groups the rows of a table by bucket or by hash."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from headrace.columns.column import Column
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError, UnknownColumnError

if TYPE_CHECKING:
    import numpy as np

    from headrace.api.table import Table
    from headrace.arrange.bucket.functions import BucketFunction


class Partitions:
    """Methods of a table that group its rows."""

    __slots__ = ()

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Mapping from name to column."""

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
        from headrace.api.table import Table  # it inherits this method
        from headrace.arrange.partition_rows.rows import partition_rows  # not needed to read

        existing_name("by", by, self.columns)
        columns, offsets = partition_rows(self.columns, by, buckets, context_of(context))
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
        from headrace.api.table import Table  # it inherits this method
        from headrace.arrange.partition_rows.rows import partition_rows_by_hash  # not needed to read

        several = [columns] if isinstance(columns, str) else columns
        if isinstance(several, bytes | bytearray | Mapping) or not isinstance(several, Sequence | AbstractSet):
            raise OptionError.wrong("columns", "the name of a column or several", columns)
        by = [existing_name("columns", name, self.columns) for name in several]
        if not by:
            raise OptionError("columns is empty; name one column or several")
        found, offsets = partition_rows_by_hash(self.columns, by, n, context_of(context))
        return Table(found), offsets


def existing_name(option: str, name: object, columns: Mapping[str, Column]) -> str:
    """Return the name in an option, or raise if there is no such column."""
    if not isinstance(name, str) or name not in columns:
        raise UnknownColumnError.unknown(f"column in {option}", name, columns)
    return name
