"""Orders the columns of a table if ``columns=`` names some that the text lacks: the row index, and columns from the paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeVar

from headrace.api.options.csv_options import CsvOptions
from headrace.columns.schema import PlannedColumns
from headrace.core.errors import OptionError

if TYPE_CHECKING:
    from headrace.columns.schema_files import UnitedColumns

ValueT = TypeVar("ValueT")


def text_columns(columns: object, first: str | None, last: Sequence[str]) -> tuple[Any, Sequence[object] | None]:
    """Return ``columns=`` without the names of columns that are not of the text, and the whole of it if it has some.

    `first`, `last`: those names before and after the columns of the text, in the order of a table. A set has that order.

    Raise OptionError if a name of such a column is there more than once.
    """
    given = [columns] if isinstance(columns, str) else columns
    if isinstance(given, bytes) or not isinstance(given, Sequence | AbstractSet):
        return columns, None
    own = [one for one in given if not (isinstance(one, str) and (one == first or one in last))]
    if len(own) == len(given):
        return columns, None
    for name in (first, *last):
        if sum(name == one for one in given) > 1:
            raise OptionError(f"columns has {name!r} more than once")
    if isinstance(given, AbstractSet):
        return set(own), [*([first] if first in given else []), *own, *(one for one in last if one in given)]
    return own, given


def asked_columns(options: CsvOptions) -> tuple[Any, Sequence[object] | None]:
    """Return `text_columns` of a text that is no file among several."""
    return text_columns(options.schema.columns, index_name(options), ())


def index_name(options: CsvOptions) -> str | None:
    """Return the name of the row index, if there is one."""
    return None if options.row_index is None else options.row_index.name


def in_order(
    asked: Sequence[object] | None, columns: Mapping[str, ValueT], planned: PlannedColumns | UnitedColumns, index: str | None
) -> dict[str, ValueT]:
    """Return the columns that ``columns=`` asks for, in its order; all if `asked` is None.

    Raise OptionError if the text has a column with the name of the row index.

    `asked`, `columns`: the second result of `text_columns`, and the columns of the table.
    `index`: name of the row index, which comes first if it is not asked for.
    """
    if asked is None:
        return dict(columns)
    if index in planned.names and index in asked:
        raise OptionError(f"row_index_name={index!r} is the name of a column; choose another")
    own = [planned.names[place] for place in planned.wanted]
    outside, rest = columns.keys() - set(own), iter(own)
    placed = [one if isinstance(one, str) and one in outside else next(rest) for one in asked]
    return {name: columns[name] for name in [*([] if index is None or index in placed else [index]), *placed]}
