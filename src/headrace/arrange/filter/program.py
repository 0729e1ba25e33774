"""Translates a condition on columns to a program for the stack machine of filter.hpp, which CPU and GPU run."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from headrace.arrange.filter.literals import Quantity, quantity_of
from headrace.arrange.filter.operands import (
    FLOATS,
    FORMATS,
    RANGES,
    STEP_BYTES,
    FilterOperand,
    as_float,
    bounded,
    bounded_float,
    domain_of,
    in_common_domain,
    is_beyond,
    number_like,
    rounded_in,
    signed_float,
    step_bytes,
    text_literal,
)
from headrace.columns.traits import TRAITS
from headrace.columns.types import DataType
from headrace.core.errors import OptionError, UnknownColumnError, shown
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.expressions.expression_types import COMPARISONS, operation_number
from headrace.core.expressions.operators import plain

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_TEXT_CONDITIONS = ("contains", "starts_with", "ends_with")
_TRUTH = Quantity("bool", name="bool")


@dataclass(frozen=True, slots=True)
class CompiledFilter:
    """A program, the names of its columns, its constants, and the maximum depth of its stack."""

    steps: bytes
    columns: tuple[str, ...]
    constants: bytes
    depth: int

    @property
    def step_count(self) -> int:
        """Number of steps."""
        return len(self.steps) // STEP_BYTES


def compiled(expression: ColumnExpression, schema: Mapping[str, DataType]) -> CompiledFilter:
    """Return the program of a condition on columns of these types.

    Raise OptionError if the expression is no condition, or an operator does not take such values. Raise UnknownColumnError if
    there is no such column.
    """
    if not isinstance(expression, ColumnExpression):
        raise OptionError.wrong("expression", "a condition on columns, such as headrace.col('price') > 3", expression)
    compiler = _Compiler.of(expression, schema)
    return compiler.program(compiler.truth(compiler.part(expression), "the filter"))


class CompiledValue(NamedTuple):
    """A program, and the domain of its result: ``"null"`` if all values are null."""

    program: CompiledFilter
    domain: str


def compiled_value(expression: ColumnExpression, schema: Mapping[str, DataType], type_: DataType) -> CompiledValue:
    """Return the program of a condition or an expression of numbers, whose result is stored as a type.

    Raise OptionError if the type cannot represent such values, or an operator does not take its operands. Raise
    UnknownColumnError if there is no such column.
    """
    compiler = _Compiler.of(expression, schema)
    part = compiler.part(expression)
    target = TRAITS[type_.name].family
    if part.family == "null":
        return CompiledValue(compiler.program(part), "null")
    if type_.name == "float64" and part.family in ("integer", "float"):
        return CompiledValue(compiler.program(part.converted("f64")), "f64")
    is_exact = part.domain == "f32" if target == "float" else target in ("bool", "integer")
    if part.family != target or not is_exact:
        raise OptionError(f"{type_} does not have the values of {part.quantity.name} of {shown(repr(expression))}")
    return CompiledValue(compiler.program(part), part.domain)


@dataclass(slots=True)
class _Compiler:
    schema: Mapping[str, DataType]
    names: tuple[str, ...]
    constants: bytearray = field(default_factory=bytearray)

    @classmethod
    def of(cls, expression: ColumnExpression, schema: Mapping[str, DataType]) -> _Compiler:
        names = expression.column_names()
        for name in names:
            if name not in schema:
                raise UnknownColumnError.unknown("column", name, schema)
        return cls(schema, names)

    def program(self, found: FilterOperand) -> CompiledFilter:
        return CompiledFilter(found.steps, self.names, bytes(self.constants), found.depth)

    def part(self, expression: ColumnExpression) -> FilterOperand:
        symbol = expression.symbol
        if symbol == "column":
            return self._column(expression.value)
        if symbol == "literal":
            return FilterOperand(b"", 1, "", Quantity("literal"), plain(expression.value))
        parts = [self.part(part) for part in expression.parts]
        if all(part.is_literal for part in parts):
            raise OptionError(f"{expression!r} has no column; an operator takes at least one, such as headrace.col('price')")
        if symbol == "~":
            return self.truth(parts[0], "~").then("~")
        if symbol == "is_null":
            return replace(parts[0].then("is_null", domain="truth"), quantity=_TRUTH)
        if symbol == "is_in":
            return self._is_in(parts[0], expression.value)
        left, right = parts
        if symbol in ("&", "|", "^"):
            return self._joined(symbol, self.truth(left, symbol), self.truth(right, symbol), symbol)
        if symbol in COMPARISONS:
            return self._compared(symbol, left, right)
        if symbol in _TEXT_CONDITIONS:
            return self._text_condition(symbol, left, right)
        return self._computed(symbol, left, right)

    def _column(self, name: str) -> FilterOperand:
        kind = self.schema[name]
        family = TRAITS[kind.name].family
        domain = domain_of(kind)
        family = "string" if family == "code" else family
        quantity = quantity_of(family, kind.unit, kind.scale, kind.tz is not None, str(kind))
        return FilterOperand(step_bytes("column", domain, self.names.index(name)), 1, domain, quantity)

    def truth(self, part: FilterOperand, symbol: str) -> FilterOperand:
        """Return a condition; values that are all null are one."""
        if part.is_literal and isinstance(part.literal, bool):
            raise OptionError(f"{symbol} takes conditions on columns, not {part.literal!r}")
        if part.family not in ("bool", "null"):
            what = shown(part.literal) if part.is_literal else f"values of {part.quantity.name}"
            raise OptionError(f"{symbol} takes conditions, such as col('price') > 3, not {what}; put comparisons in parentheses")
        return replace(part, domain="truth", quantity=_TRUTH)

    def _joined(
        self, operation: str, left: FilterOperand, right: FilterOperand, symbol: str, domain: str = "truth"
    ) -> FilterOperand:
        """Return a condition of two operands; `symbol`: operator of a comparison."""
        number = operation_number(symbol) if operation in ("compare", "compute") else 0
        step = step_bytes(operation, domain, number)
        return FilterOperand(left.steps + right.steps + step, max(left.depth, 1 + right.depth), "truth", _TRUTH)

    def _null(self, left: FilterOperand, right: FilterOperand) -> FilterOperand:
        """Return a condition that is null in every row, since an operand is."""
        part = left if left.family == "null" else right
        return self.truth(part, "")

    def _compared(self, symbol: str, left: FilterOperand, right: FilterOperand) -> FilterOperand:
        if left.is_literal:
            return self._compared(_MIRRORED[symbol], right, left)
        if "null" in (left.family, right.family):
            return self._null(left, right)
        if right.is_literal:
            return self._compared_with(symbol, left, right.literal)
        if left.family == "bool" and right.family == "bool":
            return self._equal_truths(symbol, left, right)
        left, right = in_common_domain(left, right)
        return self._joined("compare", left, right, symbol, left.domain)

    def _equal_truths(self, symbol: str, left: FilterOperand, right: FilterOperand) -> FilterOperand:
        if symbol not in ("==", "!="):
            raise OptionError(f"conditions are compared by == and !=, not by {symbol}")
        differ = self._joined("^", left, right, "^")
        return differ if symbol == "!=" else differ.then("~")

    def _compared_with(self, symbol: str, left: FilterOperand, value: Any) -> FilterOperand:
        """Return the comparison of a column or a result with a literal."""
        if left.family == "bool":
            if not isinstance(value, bool) or symbol not in ("==", "!="):
                raise OptionError(f"a condition is compared with True or False by == and !=, not by {symbol} with {shown(value)}")
            return left if value == (symbol == "==") else left.then("~")
        if left.domain == "text":
            return self._joined("compare", left, self._text(left, value), symbol, "text")
        literal = left.quantity.literal(value)
        if left.domain in FLOATS:
            symbol, rounded = bounded_float(symbol, literal, left.domain)
            return self._joined("compare", left, number_like(rounded, left), symbol, left.domain)
        symbol, bound = bounded(symbol, literal, *RANGES[left.domain])
        return self._joined("compare", left, number_like(bound, left), symbol, left.domain)

    def _text(self, left: FilterOperand, value: Any) -> FilterOperand:
        """Return a literal to be compared with texts."""
        return replace(left, steps=step_bytes("number", "text", *self._constant(text_literal(left, value))), depth=1)

    def _constant(self, data: bytes, align: int = 1) -> tuple[int, int]:
        self.constants += bytes(-len(self.constants) % align)
        at = len(self.constants)
        self.constants += data
        return at, len(data)

    def _text_condition(self, symbol: str, left: FilterOperand, right: FilterOperand) -> FilterOperand:
        if "null" in (left.family, right.family):
            return self._null(left, right)
        if left.domain != "text" or not (right.is_literal or right.domain == "text"):
            other = right if left.domain == "text" else left
            raise OptionError(f"str.{symbol} takes texts, not values of {other.quantity.name}")
        right = self._text(left, right.literal) if right.is_literal else right
        return self._joined(symbol, left, right, symbol, "text")

    def _is_in(self, part: FilterOperand, values: tuple[Any, ...]) -> FilterOperand:
        if part.family == "null":
            return self.truth(part, "is_in")
        if part.domain == "text":
            places = [self._constant(text) for text in sorted({text_literal(part, value) for value in values})]
            sorted_values, count = b"".join(struct.pack("<2Q", *place) for place in places), len(places)
        elif part.domain in FORMATS:
            found = sorted(set(self._values_in(part, values)))
            sorted_values, count = b"".join(struct.pack(FORMATS[part.domain], value) for value in found), len(found)
        else:
            raise OptionError(f"is_in takes numbers, texts, dates and times, not values of {part.quantity.name}; combine == by |")
        at, _ = self._constant(sorted_values, 8)
        return replace(part.then("is_in", at, count, "truth"), quantity=_TRUTH)

    def _values_in(self, part: FilterOperand, values: tuple[Any, ...]) -> list[Any]:
        """Return the literals that a value can equal."""
        literals = [part.quantity.literal(plain(value)) for value in values]
        if part.domain in FLOATS:
            near = [literal for literal in literals if not is_beyond(literal, part.domain)]
            rounded = [rounded_in(as_float(literal), part.domain) for literal in near]
            return [value for value in rounded if not math.isnan(value)]
        low, high = RANGES[part.domain]
        exact = [value for value in literals if isinstance(value, Fraction) and value.denominator == 1]
        return [int(value) for value in exact if low <= value <= high]

    def _computed(self, symbol: str, left: FilterOperand, right: FilterOperand) -> FilterOperand:
        if symbol not in _COMPUTED:
            raise OptionError(f"columns have no operator {symbol}")
        if "null" in (left.family, right.family):
            return left if left.family == "null" else right
        for part in (left, right):
            if not part.is_literal and part.family not in ("integer", "float"):
                raise OptionError(f"{symbol} takes integers and floats, not values of {part.quantity.name}")
        left, right = _COMPUTED[symbol](symbol, left, right)
        steps = left.steps + right.steps + step_bytes("compute", left.domain, operation_number(symbol))
        return FilterOperand(steps, max(left.depth, 1 + right.depth), left.domain, _result(left.domain))


def _arithmetic(symbol: str, left: FilterOperand, right: FilterOperand) -> tuple[FilterOperand, FilterOperand]:
    """Return the operands of a sum, difference or product in one domain."""
    if left.is_literal:
        return _literal_beside(left, right, symbol)
    if right.is_literal:
        return _literal_beside(right, left, symbol)[::-1]
    if left.domain == right.domain:
        return left, right
    return left.converted("f64"), right.converted("f64")


def _literal_beside(literal: FilterOperand, other: FilterOperand, symbol: str) -> tuple[FilterOperand, FilterOperand]:
    value = Quantity("float").literal(literal.literal)
    if other.domain not in FLOATS:
        low, high = RANGES[other.domain]
        if not isinstance(literal.literal, float) and isinstance(value, Fraction) and value.denominator == 1:
            if not low <= value <= high:
                raise OptionError(
                    f"{symbol} of {other.quantity.name} takes integers from {low} to {high}, not {literal.literal!r}"
                )
            return number_like(int(value), other), other
        other = other.converted("f64")
    if is_beyond(value, other.domain):
        raise OptionError(f"{symbol} of {other.quantity.name} does not take {shown(literal.literal)}, an infinity in its type")
    return number_like(signed_float(value, literal.literal), other), other


def _quotient(symbol: str, left: FilterOperand, right: FilterOperand) -> tuple[FilterOperand, FilterOperand]:
    """Return the operands of a division of floats."""
    left, right = (part if part.is_literal or part.domain in FLOATS else part.converted("f64") for part in (left, right))
    return _arithmetic(symbol, left, right)


def _floor_division(symbol: str, left: FilterOperand, right: FilterOperand) -> tuple[FilterOperand, FilterOperand]:
    """Return the operands of a division of integers that rounds down."""
    value = right.literal
    is_divisor = isinstance(value, int) and not isinstance(value, bool) and value > 0
    if not is_divisor or left.is_literal or left.domain in FLOATS:
        raise OptionError(f"{symbol} takes a column of integers and a positive integer; / divides floats")
    return _arithmetic(symbol, left, right)


_COMPUTED: dict[str, Callable[[str, FilterOperand, FilterOperand], tuple[FilterOperand, FilterOperand]]] = {
    "+": _arithmetic, "-": _arithmetic, "*": _arithmetic, "/": _quotient, "//": _floor_division, "%": _floor_division,
}  # fmt: skip


def _result(domain: str) -> Quantity:
    return Quantity("float" if domain in FLOATS else "integer", name={"f32": "float32", "f64": "float64"}.get(domain, "integers"))
