"""Concatenates tables, with types that represent the values of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, ValuesView
from dataclasses import replace
from io import IOBase
from typing import TYPE_CHECKING, Any

from headrace.api.table import Table
from headrace.columns.column import Column
from headrace.columns.finish.concat import JoinPart, SharedLoads
from headrace.columns.traits import TRAITS, UNITS
from headrace.columns.types import ENCODED, DataType
from headrace.core.context import Context, context_of
from headrace.core.errors import OptionError, UnknownColumnError, shown
from headrace.core.options import flag

_ADVICE = "give both one type, by dtypes= of read_csv or by PyArrow's Table.cast"

if TYPE_CHECKING:
    from headrace.export.text.write_csv import ArrowStream


def concat(tables: Iterable[Table | ArrowStream], *, ignore_index: bool = True, context: Context | None = None) -> Table:
    """Return the rows of several tables, one table after the other. Needs NumPy.

    Columns are matched by name, in the order of the first table. A column has one type in the result:

    - Numbers get the type that NumPy promotes their types to, int64 for uint64 beside signed integers, if it has each value.
    - Times and durations get the finest unit, and dates beside timestamps become timestamps, if it has each value. Decimals of
      one scale get the largest precision.
    - Texts of several forms become plain texts. Views stay views, and dictionaries become one dictionary.
    - A column of nulls takes the type of the others.

    Parameters
    ----------
    tables
        At least one table, of this package or of any library with an Arrow stream. A list, or an iterator such as the batches of
        a scan. Tables on a GPU are concatenated there. Their columns must have equal types, and may be string views but no
        dictionaries.
    ignore_index
        Accepted as in pandas; a table has no index.
    context
        Number of threads and memory limit. None for the defaults.

    Returns
    -------
    Table
        The rows. It has neither the rejects nor the reports of the tables.

    Raises
    ------
    OptionError
        There is no table, the tables are on several devices, or a column's types have no common type. The error names table and
        column.
    UnknownColumnError
        A table lacks a column of another one. The error is a `KeyError` too.
    MemoryLimitError
        The result exceeds the context's limit.
    MissingDependencyError
        NumPy is not installed.

    Examples
    --------
    >>> import headrace
    >>> first, second = headrace.read_csv(b"a,b\\n1,x\\n"), headrace.read_csv(b"b,a\\ny,2.5\\n")
    >>> headrace.concat([first, second]).to_pydict()
    {'a': [1.0, 2.5], 'b': ['x', 'y']}
    """
    from headrace.arrays.arrays import needed_numpy  # not needed to read

    needed_numpy("concat()")
    flag("ignore_index", ignore_index)
    context = context_of(context)
    given = _tables(tables)
    names = given[0].column_names
    for number, table in enumerate(given):
        _check_names(number, table, given[0])
    if len(given) == 1:
        return Table(given[0].columns)
    if given[0].device.kind != "cpu":
        return _joined_on_gpu(given, context)
    loads = SharedLoads.of(len(names), context)  # one budget for all columns
    return Table({name: _joined(name, [table.columns[name] for table in given], context, loads) for name in names})


def _tables(tables: Any) -> list[Table]:
    if not isinstance(tables, Sequence | Iterator | ValuesView) or isinstance(tables, str | bytes | IOBase):
        raise OptionError.wrong("tables", "a list of tables", tables)
    found = [_table(number, one) for number, one in enumerate(tables)]
    if not found:
        raise OptionError("tables is empty; pass at least one table")
    for number, table in enumerate(found):
        if table.device != found[0].device:
            raise OptionError(f"tables[{number}] is on {table.device}, and tables[0] on {found[0].device}; pass table.to('cpu')")
    return found


def _table(number: int, given: Any) -> Table:
    if not isinstance(given, Table):
        if isinstance(given, type) or not hasattr(given, "__arrow_c_stream__"):
            raise OptionError.wrong(f"tables[{number}]", "a table", given)
        given = Table.from_arrow(given)
    found: Table = given
    return found


def _check_names(number: int, table: Table, first: Table) -> None:
    for name in first.columns:
        if name not in table.columns:
            raise UnknownColumnError(f"tables[{number}] has no column {shown(name)}, and tables[0] has it")
    for name in table.columns:
        if name not in first.columns:
            raise UnknownColumnError(f"tables[{number}] has the column {shown(name)}, and tables[0] has not")


def _joined(name: str, columns: Sequence[Column], context: Context, loads: SharedLoads) -> Column:
    from headrace.encode.texts import encoded  # not needed to read
    from headrace.store.dictionary.plain import column_of_nulls

    kind = _type_of_all(name, columns)
    if kind.name == "null":
        return column_of_nulls(kind, sum(len(column) for column in columns))
    parts: list[JoinPart] = [_part(name, number, column, kind, context) for number, column in enumerate(columns)]
    plain = DataType("string") if kind.name in ENCODED else kind
    return encoded(loads.join(parts, plain)[0], kind, None, context.thread_count)


def _type_of_all(name: str, columns: Sequence[Column]) -> DataType:
    kind = _common_type([column.type for column in columns])
    if kind is None:
        first = next(number for number, column in enumerate(columns) if column.type.name != "null")
        others = (number for number, column in enumerate(columns) if _common_type([columns[first].type, column.type]) is None)
        at = next(others)
        there = f"column {shown(name)} of tables[{at}] is of type {columns[at].type}"
        raise OptionError(f"{there}, and that of tables[{first}] is of type {columns[first].type}; {_ADVICE}")
    return kind


def _joined_on_gpu(tables: Sequence[Table], context: Context) -> Table:
    from headrace.arrange.gather.concat_gpu import concat_columns  # needs cuda-core

    columns = {name: [table.columns[name] for table in tables] for name in tables[0].column_names}
    kinds = {name: _type_of_all(name, parts) for name, parts in columns.items()}
    for name, parts in columns.items():
        for number, part in enumerate(parts):
            is_plain = {part.type.name, kinds[name].name} <= {"string", "large_string"}
            if part.type.name == "dictionary" or not (is_plain or part.type == kinds[name] or part.type.name == "null"):
                there = f"column {shown(name)} of tables[{number}] is of type {part.type}"
                raise OptionError(f"{there}, which is not converted to {kinds[name]} on a GPU; pass table.to('cpu')")
    return Table(concat_columns(columns, kinds, context))


def _part(name: str, number: int, column: Column, kind: DataType, context: Context) -> JoinPart:
    from headrace.arrange.gather.take import from_first_row  # not needed to read
    from headrace.columns.as_numpy import exact_numbers, exact_times
    from headrace.store.dictionary.plain import plain_column

    if column.type.name == "null":
        return len(column)
    part = from_first_row(plain_column(column, context), context.thread_count)
    if part.type == kind or not (kind.is_numeric or kind.unit or kind.scale is not None):
        return part
    if kind.scale is not None:
        return replace(part, type=kind)
    converted = exact_numbers(part, kind) if kind.is_numeric else exact_times(part, kind)
    if converted is None:
        there = f"column {shown(name)} of tables[{number}] is of type {column.type}"
        raise OptionError(f"{there} and has values that {kind} has not; {_ADVICE}")
    return converted


def _common_type(types: Sequence[DataType]) -> DataType | None:
    """Return the type of columns of several types in one; None if there is none."""
    distinct = list(dict.fromkeys(one for one in types if one.name != "null"))
    if len(distinct) < 2:
        return distinct[0] if distinct else DataType("null")
    if all(one.is_string or one.name in ENCODED for one in distinct):
        return DataType("string")
    if all(one.is_binary for one in distinct):
        return DataType("binary")
    if all(one.is_numeric for one in distinct):
        import numpy as np

        promoted = np.result_type(*(one.name for one in distinct)).name
        has_floats = any(one.name.startswith("float") for one in distinct)
        return DataType(promoted if has_floats or not promoted.startswith("float") else "int64")
    return _common_time(distinct) or _common_decimal(distinct)


def _common_time(types: Sequence[DataType]) -> DataType | None:
    """Return the type of the finest unit; None if the types are not of one sort, or have several zones. A date has none."""
    families = {TRAITS[one.name].family for one in types}
    timed = [one for one in types if one.unit]
    if not timed or len({one.tz for one in types}) > 1 or (len(families) > 1 and families != {"date", "timestamp"}):
        return None
    return max(timed, key=lambda one: UNITS[one.unit or "s"])


def _common_decimal(types: Sequence[DataType]) -> DataType | None:
    """Return the decimal type of one scale with the largest precision; None if the scales differ or a type is another one."""
    if len({(one.name, one.scale) for one in types}) > 1 or types[0].name != "decimal128":
        return None
    return max(types, key=lambda one: one.precision or 0)
