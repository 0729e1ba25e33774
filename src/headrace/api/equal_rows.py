"""Finds equal rows of tables: distinct rows, their counts, and the rows of another table that match."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

from headrace.api.partitions import existing_name
from headrace.columns.column import Column
from headrace.columns.placement import one_device
from headrace.columns.schema import is_name
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError

if TYPE_CHECKING:
    import numpy as np

    from headrace.api.table import Table
    from headrace.export.text.write_csv import ArrowStream


class EqualRows:
    """Methods of a table that find equal rows."""

    __slots__ = ()

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Mapping from name to column."""

    def unique(
        self,
        columns: str | Sequence[str] | None = None,
        *,
        subset: str | Sequence[str] | None = None,
        context: Context | None = None,
    ) -> Table:
        """Return the first of all rows that are equal in some columns, in their order. Needs NumPy.

        Nulls are equal to each other, as are -0.0 and 0.0, all NaN, and equal texts of any string type.

        Parameters
        ----------
        columns
            Name of a column, or several. None for all columns.
        subset
            Another name of `columns`, as in Polars. Not both.
        context
            Number of threads and memory limit. None for the defaults.

        Raises
        ------
        UnknownColumnError
            There is no such column. The error is a `KeyError` too.
        MemoryLimitError
            The hash table exceeds the context's limit.
        MissingDependencyError
            NumPy is not installed.

        Examples
        --------
        >>> import headrace
        >>> table = headrace.read_csv(b"city,n\\nRome,1\\nOslo,2\\nRome,3\\n")
        >>> table.unique("city").to_pydict()
        {'city': ['Rome', 'Oslo'], 'n': [1, 2]}
        """
        from headrace.api.table import Table  # it inherits this method

        if columns is not None and subset is not None:
            raise OptionError("subset is another name of columns: pass one of them")
        np = _numpy("unique()")
        context = context_of(context)
        names = self._listed_names("columns", columns) if subset is None else self._listed_names("subset", subset)
        if self._is_on_gpu():
            from headrace.index.hash_map.gpu.tables.device_row_groups import distinct_rows_on_gpu  # needs cuda-core

            return Table(distinct_rows_on_gpu(self.columns, names, context))
        firsts = self._first_rows(names, context)
        return Table(_selected_rows(self.columns, np.flatnonzero(firsts == np.arange(len(firsts))), context))

    def value_counts(
        self, columns: str | Sequence[str] | None = None, *, name: str = "count", context: Context | None = None
    ) -> Table:
        """Return the distinct rows of some columns with their numbers of rows, the most frequent first. Needs NumPy.

        Rows of one count are in the order of their first rows. Rows are equal as in `unique`.

        Parameters
        ----------
        columns
            Name of a column, or several. None for all columns.
        name
            Name of the column of counts, int64.
        context
            Number of threads and memory limit. None for the defaults.

        Raises
        ------
        OptionError
            A column has the name of the counts.
        UnknownColumnError, MemoryLimitError, MissingDependencyError
            As for `unique`.

        Examples
        --------
        >>> import headrace
        >>> table = headrace.read_csv(b"city\\nOslo\\nRome\\nRome\\n")
        >>> table.value_counts("city").to_pydict()
        {'city': ['Rome', 'Oslo'], 'count': [2, 1]}
        """
        from headrace.api.table import Table  # it inherits this method

        np = _numpy("value_counts()")
        context = context_of(context)
        names = self._listed_names("columns", columns)
        if not is_name(name):
            raise OptionError.wrong("name", "a text", name)
        if name in names:
            raise OptionError(f"name is {name!r}, and a column has this name; pass another name for the counts")
        if self._is_on_gpu():
            from headrace.index.hash_map.gpu.tables.device_row_groups import counted_rows_on_gpu  # needs cuda-core

            found, numbers = counted_rows_on_gpu(self.columns, names, context)
            return Table({**found, name: numbers})
        firsts = self._first_rows(names, context)
        counts = np.bincount(firsts, minlength=len(firsts))
        rows = np.flatnonzero(counts)
        rows = rows[np.argsort(-counts[rows], kind="stable")]
        found = _selected_rows({one: self.columns[one] for one in names}, rows, context)
        return Table({**found, name: _int64_column(counts[rows])})

    def lookup(self, other: Table | ArrowStream, on: str | Sequence[str], *, context: Context | None = None) -> Any:
        """Return for each row the number of the first row of another table that is equal in some columns. Needs NumPy.

        With these numbers a join is one `headrace.take` of each column of the other table. A row with a null in these columns
        has no match. Rows are equal as in `unique` otherwise.

        Parameters
        ----------
        other
            The other table, of this package or of any library with an Arrow stream.
        on
            Name of a column, or several, that both tables have, of the same types. Columns of texts may have several types. Both
            tables are on one device.
        context
            Number of threads and memory limit. None for the defaults.

        Returns
        -------
        array
            Row numbers of `other`, int64; -1 for rows without a match. A NumPy array, or a `DeviceArray` for tables on a GPU.

        Raises
        ------
        OptionError
            A column has different types in the tables, or they lie on several devices.
        UnknownColumnError, MemoryLimitError, MissingDependencyError
            As for `unique`.

        Examples
        --------
        >>> import headrace
        >>> orders = headrace.read_csv(b"city,n\\nRome,1\\nParis,2\\nOslo,3\\n")
        >>> cities = headrace.read_csv(b"city,founded\\nOslo,1048\\nRome,-753\\n")
        >>> orders.lookup(cities, "city")
        array([ 1, -1,  0])
        """
        from headrace.api.table import Table  # it inherits this method
        from headrace.core.options import instance

        _numpy("lookup()")
        from headrace.index.hash_map.row_groups import HashedRows, check_types, matching_rows  # needs NumPy

        context = context_of(context)
        names = self._listed_names("on", on)
        if not isinstance(other, Table) and hasattr(other, "__arrow_c_stream__") and not isinstance(other, type):
            other = Table.from_arrow(other)
        theirs = instance("other", other, Table).columns
        for one in names:
            existing_name("on", one, theirs)
        check_types(self.columns, theirs, names)
        if self._is_on_gpu(*(theirs[one] for one in names)):
            from headrace.index.hash_map.gpu.tables.device_row_groups import matching_rows_on_gpu  # needs cuda-core

            return matching_rows_on_gpu(self.columns, theirs, names, context)
        return matching_rows(HashedRows.of(self.columns, names, context), HashedRows.of(theirs, names, context))

    def _is_on_gpu(self, *others: Column) -> bool:
        columns = enumerate([*self.columns.values(), *others])
        return one_device({str(number): column for number, column in columns}).kind != "cpu"

    def _listed_names(self, option: str, names: str | Sequence[str] | None) -> list[str]:
        if names is None and option == "columns":
            return list(self.columns)
        several = [names] if isinstance(names, str) else names
        if isinstance(several, bytes | bytearray | Mapping) or not isinstance(several, Sequence | AbstractSet):
            raise OptionError.wrong(option, "the name of a column or several", names)
        found = list(dict.fromkeys(existing_name(option, name, self.columns) for name in several))
        if isinstance(several, AbstractSet):
            found.sort(key=list(self.columns).index)  # a set has no order
        if not found:
            raise OptionError(f"{option} is empty; name one column or several")
        return found

    def _first_rows(self, names: Sequence[str], context: Context) -> np.ndarray[Any, Any]:
        from headrace.index.hash_map.row_groups import HashedRows, first_rows  # not needed to read

        found: np.ndarray[Any, Any] = first_rows(HashedRows.of(self.columns, names, context))
        return found


def _numpy(what: str) -> Any:
    from headrace.arrays.arrays import needed_numpy  # not needed to read

    return needed_numpy(what)


def _selected_rows(columns: Mapping[str, Column], rows: np.ndarray[Any, Any], context: Context) -> dict[str, Column]:
    from headrace.arrange.gather.take import take_rows  # not needed to read

    return {name: take_rows(column, rows, context.thread_count) for name, column in columns.items()}


def _int64_column(values: np.ndarray[Any, Any]) -> Column:
    from headrace.columns.types import DataType
    from headrace.core.buffer import copy_of

    return Column(DataType("int64"), len(values), 0, copy_of(values.astype("<i8").data))
