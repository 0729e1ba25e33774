"""Represents conditions and values of columns, built from `col` by Python operators: ``col("price") * 2 > 3``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, Literal, Self, TypeAlias

from headrace.core.errors import OptionError, shown
from headrace.core.expressions.operators import Operators, check_depth, is_missing
from headrace.core.foreign_names import ForeignNames
from headrace.core.options import choice, instance

_Text: TypeAlias = str  # the builtin type in a class that has an attribute `str`
_BRACKETS = {"both": (">=", "<="), "left": (">=", "<"), "right": (">", "<="), "none": (">", "<")}


@dataclass(frozen=True, slots=True, eq=False)
class ColumnExpression(Operators, ForeignNames):
    """Value of each row of a table, computed from columns; made by `col` and operators.

    A comparison with a null is null, and so are sums and other results of a null. ``&`` and ``|`` have three values as in SQL:
    ``false & null`` is false, ``true | null`` is true, others with a null are null. A filter keeps the rows whose condition is
    true.

    Numbers are compared by value: an integer column with 2.5 or 2 ** 70 exactly, a decimal column with the digits of a literal.
    Timestamps are compared with finer literals exactly. A literal that is compared with floats is rounded to their type. NaN is
    equal to nothing, itself included.

    Integer arithmetic wraps at 64 bits; integers and floats together are float64. ``/`` is float division. ``//`` and ``%`` take
    a positive integer literal and round down, as in Python. Texts are compared by their bytes in UTF-8, the order of code points.

    Dates and times are compared with `datetime` objects or ISO texts such as ``"2024-01-31"``. A timestamp with a time zone needs
    a literal with an offset.

    Parameters
    ----------
    symbol
        ``"column"``, ``"literal"``, a Python operator, or the name of a method.
    parts
        Operands.
    value
        Name of a column, value of a literal, or values of `is_in`.
    depth
        Number of nested operators.

    Examples
    --------
    >>> (col("price") * 2 > 3) & ~col("city").is_null()
    ((col('price') * 2) > 3) & (~col('city').is_null())
    """

    symbol: _Text
    parts: tuple[ColumnExpression, ...] = ()
    value: Any = None
    depth: int = 0

    @classmethod
    def combined(cls, symbol: _Text, left: object, right: object) -> Self:
        """Return the expression of an operator and its operands, which are expressions or literals."""
        parts = _part(left), _part(right)
        return cls(symbol, parts, None, check_depth(1 + max(part.depth for part in parts)))

    def __invert__(self) -> Self:
        return self._applied("~")

    def is_null(self) -> Self:
        """Return whether the value is null; never null itself."""
        return self._applied("is_null")

    def is_not_null(self) -> Self:
        """Return whether the value is not null; never null itself."""
        return ~self.is_null()

    def is_in(self, values: Iterable[object]) -> Self:
        """Return whether the value equals one of `values`; null for a null."""
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            raise OptionError.wrong("values", "several values, such as a list", values)
        try:
            listed = tuple(values)
        except (TypeError, ValueError) as error:  # an array without dimensions, a closed file
            raise OptionError.wrong("values", "several values, such as a list", values) from error
        if any(is_missing(value) for value in listed):
            raise OptionError("values holds None; a null is found by is_null()")
        return self._applied("is_in", listed)

    def between(self, low: object, high: object, closed: Literal["both", "left", "right", "none"] = "both") -> Self:
        """Return whether the value is from `low` to `high`; `closed` names the ends that belong to it."""
        above, below = _BRACKETS[choice("closed", closed, _BRACKETS)]
        return self.combined(above, self, low) & self.combined(below, self, high)

    @property
    def str(self) -> TextConditions:
        """Conditions on texts: `contains`, `starts_with`, `ends_with`."""
        return TextConditions(self)

    def _applied(self, symbol: _Text, value: object = None) -> Self:
        return type(self)(symbol, (self,), value, check_depth(self.depth + 1))

    def column_names(self) -> tuple[_Text, ...]:
        """Return the names of the columns, each once, in their order in the expression."""
        names = [self.value] if self.symbol == "column" else [name for part in self.parts for name in part.column_names()]
        return tuple(dict.fromkeys(names))

    def __repr__(self) -> _Text:
        if self.symbol == "column":
            return f"col({self.value!r})"
        if self.symbol == "literal":
            return repr(self.value)
        inner = [f"({part!r})" if len(part.parts) > 1 or part.symbol == "~" else repr(part) for part in self.parts]
        if self.symbol == "~":
            return f"~{inner[0]}"
        if self.symbol == "is_null":
            return f"{inner[0]}.is_null()"
        if self.symbol == "is_in":
            return f"{inner[0]}.is_in({list(self.value)!r})"
        if self.symbol in _TEXT_CONDITIONS:
            return f"{inner[0]}.str.{self.symbol}({inner[1]})"
        return f"{inner[0]} {self.symbol} {inner[1]}"


_TEXT_CONDITIONS = ("contains", "starts_with", "ends_with")


@dataclass(frozen=True, slots=True)
class TextConditions(ForeignNames):
    """Conditions on texts. A part is taken as it is, not as a regular expression; its case matters."""

    text: ColumnExpression

    def contains(self, part: str | ColumnExpression) -> ColumnExpression:
        """Return whether a text contains `part`."""
        return ColumnExpression.combined("contains", self.text, part)

    def starts_with(self, part: str | ColumnExpression) -> ColumnExpression:
        """Return whether a text starts with `part`."""
        return ColumnExpression.combined("starts_with", self.text, part)

    def ends_with(self, part: str | ColumnExpression) -> ColumnExpression:
        """Return whether a text ends with `part`."""
        return ColumnExpression.combined("ends_with", self.text, part)


def col(name: str) -> ColumnExpression:
    """Return the expression of a column's values, for `Table.filter` and `Scan.where`.

    Parameters
    ----------
    name
        Name of the column.

    Examples
    --------
    >>> import headrace
    >>> table = headrace.read_csv(b"city,people\\nRome,2873\\nOslo,709\\nParis,\\n")
    >>> table.filter(headrace.col("people") > 1_000)["city"].to_pylist()
    ['Rome']
    """
    if not isinstance(name, str):
        raise OptionError.wrong("name", "the name of a column", name)
    return ColumnExpression("column", (), name)


def all_of(*conditions: ColumnExpression) -> ColumnExpression:
    """Return the condition that all conditions are true. Raise OptionError if one of them is no condition."""
    for one in conditions:
        instance("expression", one, ColumnExpression, "a condition on columns, such as headrace.col('price') > 3")
    return reduce(and_, conditions)


def name_of(column: Any) -> Any:
    """Return the name in an expression of one column; anything that is no expression as it is.

    Raise OptionError if it is an expression with operators.
    """
    if not isinstance(column, ColumnExpression):
        return column
    if column.symbol != "column":
        raise OptionError(f"{column!r} is no column: expressions select rows; to_polars() computes new columns")
    return column.value


def _part(value: object) -> ColumnExpression:
    if isinstance(value, ColumnExpression):
        return value
    if is_missing(value):
        missing = "None" if value is None else f"the missing value {value}"
        raise OptionError(f"{missing} is compared by is_null() or is_not_null()")
    if isinstance(value, Operators):
        raise OptionError("headrace.key is for keys of arrays; columns are named by headrace.col(name)")
    if isinstance(value, list | tuple | set | frozenset | dict) or getattr(value, "ndim", 0) != 0:
        raise OptionError(f"an operand is a single value, not {shown(value)}; use is_in() for several")
    return ColumnExpression("literal", (), value)
