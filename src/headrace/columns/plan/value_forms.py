"""Plans null texts and date formats, which may differ by column."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar

from headrace.columns.date_format import DateForms, DateOptions
from headrace.columns.schema import positions_of
from headrace.core.errors import OptionError

OwnT = TypeVar("OwnT")

_EMPTY_IS_NULL = (b"",)

NULL_WORDS = (
    *(b"NA", b"N/A", b"n/a", b"na", b"#N/A", b"<NA>", b"NULL", b"null", b"Null", b"None", b"none", b"nan", b"NaN"),
    *(b"\\N", b"-", b"--", b"?", b"."),
)  # words that often mean null


@dataclass(frozen=True, slots=True)
class ValueForms:
    """Null texts and date formats of a column."""

    null_texts: tuple[bytes, ...] = _EMPTY_IS_NULL  # texts that are null in a column of text
    null_words: tuple[bytes, ...] = ()
    """Texts that are null in a column of values only. The empty text is one of these if there are other null texts."""
    dates: DateForms = field(default_factory=DateForms)  # date formats
    escape: bytes = b""
    """The dialect's escape, empty for none. Null texts that contain it are compared before escapes are removed."""


@dataclass(frozen=True, slots=True)
class PlannedForms:
    """Null texts and date formats of each column."""

    several: tuple[ValueForms, ...] = (ValueForms(),)  # the distinct forms; at least one
    of_columns: Mapping[int, int] = field(default_factory=dict)
    """Index in `several` by position of a column. Other columns have the first."""

    def of(self, position: int) -> ValueForms:
        """Return the forms of the column at a position."""
        return self.several[self.of_columns.get(position, 0)]

    def at(self, places: Sequence[int]) -> PlannedForms:
        """Return the forms of a table that has only the columns at some positions.

        >>> dict(PlannedForms((ValueForms(), ValueForms(())), {4: 1}).at((7, 4)).of_columns)
        {1: 1}
        """
        chosen = {position: self.of_columns[place] for position, place in enumerate(places) if place in self.of_columns}
        return PlannedForms(self.several, chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOptions:
    """Null texts and date formats as options: for all columns, and for some by name or position."""

    null_texts: tuple[bytes, ...] = _EMPTY_IS_NULL
    null_words: tuple[bytes, ...] = ()
    null_texts_of: Mapping[str | int, tuple[bytes, ...]] = field(default_factory=dict)
    dates: DateOptions = field(default_factory=DateOptions)
    escape: bytes = b""

    @property
    def all_null_texts(self) -> tuple[bytes, ...]:
        """The texts and words that are null in all columns or in some."""
        return (*self.null_texts, *self.null_words, *chain.from_iterable(self.null_texts_of.values()))

    def without_dates_of(self, names: Container[object]) -> FormOptions:
        """Return the options without the date formats of some columns."""
        of_columns = {key: forms for key, forms in self.dates.of_columns.items() if key not in names}
        return replace(self, dates=replace(self.dates, of_columns=of_columns))

    def dates_alone(self, name: str) -> FormOptions:
        """Return the date formats of one column, as options for a table of that column. Its null text is the empty one."""
        return FormOptions(dates=DateOptions(self.dates.of_columns.get(name, self.dates.shared)))

    def plan(self, names: tuple[str, ...]) -> PlannedForms:
        """Return the forms of a table with these columns. Raise OptionError if a column does not exist, or is named twice."""
        nulls = _by_position("null_values", self.null_texts_of, names)
        dates = _by_position("date_format", self.dates.of_columns, names)
        several = {self._forms(self.null_texts, self.dates.shared): 0}
        chosen: dict[int, int] = {}
        for position in sorted({*nulls, *dates}):
            own = self._forms(nulls.get(position, self.null_texts), dates.get(position, self.dates.shared))
            chosen[position] = several.setdefault(own, len(several))
        return PlannedForms(tuple(several), chosen)

    def _forms(self, null_texts: tuple[bytes, ...], dates: DateForms) -> ValueForms:
        """Return the forms of a column. In columns of values an empty field is null too, unless no text is null."""
        empty = _EMPTY_IS_NULL if null_texts and b"" not in null_texts else ()
        return ValueForms(null_texts, (*empty, *self.null_words), dates, self.escape)


def _by_position(option: str, given: Mapping[str | int, OwnT], names: tuple[str, ...]) -> dict[int, OwnT]:
    found: dict[int, OwnT] = {}
    for position, own in zip(positions_of(option, given, names), given.values(), strict=True):
        if position in found:
            raise OptionError(f"{option} names column {names[position]!r} twice")
        found[position] = own
    return found
