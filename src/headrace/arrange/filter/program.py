"""Translates a condition on columns to a program for the stack machine of filter.hpp, which CPU and GPU run."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from headrace.arrange.filter.literals import Quantity, plain, quantity_of
from headrace.columns.traits import TRAITS
from headrace.columns.types import DataType
from headrace.core.errors import OptionError, UnknownColumnError, shown
from headrace.core.expressions.column_expression import ColumnExpression
from headrace.core.expressions.expression_types import COMPARISONS, operation_number

_OPERATIONS = (
    "column", "number", "convert", "compute", "compare", "&", "|", "^", "~", "is_null", "is_in", "contains", "starts_with",
    "ends_with",
)  # fmt: skip
"""Operations in the order of filter.hpp."""
_DOMAINS = ("i64", "u64", "f32", "f64", "i128", "text", "truth")
_FORMATS = {"i64": "<q", "u64": "<Q", "f32": "<f", "f64": "<d"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_RANGES = {"i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1), "i128": (-(2**127), 2**127 - 1)}
_FLOATS = ("f32", "f64")
_TEXT_CONDITIONS = ("contains", "starts_with", "ends_with")


@dataclass(frozen=True, slots=True)
class CompiledFilter:
    """A program, the names of its columns, its constants, and the maximum depth of its stack."""

    steps: bytes
    columns: tuple[str, ...]
    constants: bytes
    depth: int


@dataclass(frozen=True, slots=True)
class _Part:
    """Steps that push a value on the stack.

    Parameters
    ----------
    steps
        The steps; empty for a literal.
    depth
        Maximum depth of the stack.
    domain
        Domain of the value: one of `_DOMAINS`.
    quantity
        Meaning of the value. Its family is ``"null"`` for values that are all null.
    literal
        Value of a literal.
    """

    steps: bytes
    depth: int
    domain: str
    quantity: Quantity
    literal: Any = None

    @property
    def is_literal(self) -> bool:
        return not self.steps

    @property
    def family(self) -> str:
        return self.quantity.family

    def then(self, operation: str, a: int = 0, b: int = 0, domain: str | None = None) -> _Part:
        """Return this value after an operation on it."""
        return replace(self, steps=self.steps + _step(operation, self.domain, a, b), domain=domain or self.domain)

    def converted(self, domain: str, factor: int = 1) -> _Part:
        """Return this value in another domain."""
        if self.domain == domain:
            return self
        step = _step("convert", domain, _DOMAINS.index(self.domain), factor)
        return replace(self, steps=self.steps + step, domain=domain)


_TRUTH = Quantity("bool", name="bool")


def compiled(expression: ColumnExpression, schema: Mapping[str, DataType]) -> CompiledFilter:
    """Return the program of a condition on columns of these types.

    Raises
    ------
    OptionError
        The expression is no condition, or an operator does not take such values.
    UnknownColumnError
        There is no such column.
    """
    if not isinstance(expression, ColumnExpression):
        raise OptionError.wrong("expression", "a condition on columns, such as headrace.col('price') > 3", expression)
    names = expression.column_names()
    for name in names:
        if name not in schema:
            raise UnknownColumnError.unknown("column", name, schema)
    compiler = _Compiler(schema, names)
    found = compiler.truth(compiler.part(expression), "the filter")
    return CompiledFilter(found.steps, names, bytes(compiler.constants), found.depth)


@dataclass(slots=True)
class _Compiler:
    schema: Mapping[str, DataType]
    names: tuple[str, ...]
    constants: bytearray = field(default_factory=bytearray)

    def part(self, expression: ColumnExpression) -> _Part:
        symbol = expression.symbol
        if symbol == "column":
            return self._column(expression.value)
        if symbol == "literal":
            return _Part(b"", 1, "", Quantity("literal"), plain(expression.value))
        parts = [self.part(part) for part in expression.parts]
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

    def _column(self, name: str) -> _Part:
        kind = self.schema[name]
        family = TRAITS[kind.name].family
        domain = domain_of(kind)
        family = "string" if family == "code" else family
        quantity = quantity_of(family, kind.unit, kind.scale, kind.tz is not None, str(kind))
        return _Part(_step("column", domain, self.names.index(name)), 1, domain, quantity)

    def truth(self, part: _Part, symbol: str) -> _Part:
        """Return a condition; values that are all null are one."""
        if part.is_literal and isinstance(part.literal, bool):
            raise OptionError(f"{symbol} takes conditions on columns, not {part.literal!r}")
        if part.family not in ("bool", "null"):
            what = shown(part.literal) if part.is_literal else f"values of {part.quantity.name}"
            raise OptionError(f"{symbol} takes conditions, such as col('price') > 3, not {what}; put comparisons in parentheses")
        return replace(part, domain="truth", quantity=_TRUTH)

    def _joined(self, operation: str, left: _Part, right: _Part, symbol: str, domain: str = "truth") -> _Part:
        """Return a condition of two operands; `symbol`: operator of a comparison."""
        number = operation_number(symbol) if operation in ("compare", "compute") else 0
        step = _step(operation, domain, number)
        return _Part(left.steps + right.steps + step, max(left.depth, 1 + right.depth), "truth", _TRUTH)

    def _null(self, left: _Part, right: _Part) -> _Part:
        """Return a condition that is null in every row, since an operand is."""
        part = left if left.family == "null" else right
        return self.truth(part, "")

    def _compared(self, symbol: str, left: _Part, right: _Part) -> _Part:
        if left.is_literal:
            return self._compared(_MIRRORED[symbol], right, left)
        if "null" in (left.family, right.family):
            return self._null(left, right)
        if right.is_literal:
            return self._compared_with(symbol, left, right.literal)
        if left.family == "bool" and right.family == "bool":
            return self._equal_truths(symbol, left, right)
        left, right = _in_common(left, right)
        return self._joined("compare", left, right, symbol, left.domain)

    def _equal_truths(self, symbol: str, left: _Part, right: _Part) -> _Part:
        if symbol not in ("==", "!="):
            raise OptionError(f"conditions are compared by == and !=, not by {symbol}")
        differ = self._joined("^", left, right, "^")
        return differ if symbol == "!=" else differ.then("~")

    def _compared_with(self, symbol: str, left: _Part, value: Any) -> _Part:
        """Return the comparison of a column or a result with a literal."""
        if left.family == "bool":
            if not isinstance(value, bool) or symbol not in ("==", "!="):
                raise OptionError(f"a condition is compared with True or False by == and !=, not by {symbol} with {shown(value)}")
            return left if value == (symbol == "==") else left.then("~")
        if left.domain == "text":
            return self._joined("compare", left, self._text(left, value), symbol, "text")
        literal = left.quantity.literal(value)
        if left.domain in _FLOATS:
            return self._joined("compare", left, _number(_as_float(literal), left), symbol, left.domain)
        symbol, bound = _bounded(symbol, literal, *_RANGES[left.domain])
        return self._joined("compare", left, _number(bound, left), symbol, left.domain)

    def _text(self, left: _Part, value: Any) -> _Part:
        """Return a literal to be compared with texts."""
        return replace(left, steps=_step("number", "text", *self._constant(_text_of(left, value))), depth=1)

    def _constant(self, data: bytes, align: int = 1) -> tuple[int, int]:
        self.constants += bytes(-len(self.constants) % align)
        at = len(self.constants)
        self.constants += data
        return at, len(data)

    def _text_condition(self, symbol: str, left: _Part, right: _Part) -> _Part:
        if "null" in (left.family, right.family):
            return self._null(left, right)
        if left.domain != "text" or not (right.is_literal or right.domain == "text"):
            other = right if left.domain == "text" else left
            raise OptionError(f"str.{symbol} takes texts, not values of {other.quantity.name}")
        right = self._text(left, right.literal) if right.is_literal else right
        return self._joined(symbol, left, right, symbol, "text")

    def _is_in(self, part: _Part, values: tuple[Any, ...]) -> _Part:
        if part.family == "null":
            return self.truth(part, "is_in")
        if part.domain == "text":
            places = [self._constant(text) for text in sorted({_text_of(part, value) for value in values})]
            sorted_values, count = b"".join(struct.pack("<2Q", *place) for place in places), len(places)
        elif part.domain in _FORMATS:
            found = sorted(set(self._values_in(part, values)))
            sorted_values, count = b"".join(struct.pack(_FORMATS[part.domain], value) for value in found), len(found)
        else:
            raise OptionError(f"is_in takes numbers, texts, dates and times, not values of {part.quantity.name}; combine == by |")
        at, _ = self._constant(sorted_values, 8)
        return replace(part.then("is_in", at, count, "truth"), quantity=_TRUTH)

    def _values_in(self, part: _Part, values: tuple[Any, ...]) -> list[Any]:
        """Return the literals that a value can equal."""
        literals = [part.quantity.literal(plain(value)) for value in values]
        if part.domain in _FLOATS:
            rounded = [_rounded(_as_float(literal), part.domain) for literal in literals]
            return [value for value in rounded if not math.isnan(value)]
        low, high = _RANGES[part.domain]
        exact = [value for value in literals if isinstance(value, Fraction) and value.denominator == 1]
        return [int(value) for value in exact if low <= value <= high]

    def _computed(self, symbol: str, left: _Part, right: _Part) -> _Part:
        if symbol not in _COMPUTED:
            raise OptionError(f"columns have no operator {symbol}")
        if "null" in (left.family, right.family):
            return left if left.family == "null" else right
        for part in (left, right):
            if not part.is_literal and part.family not in ("integer", "float"):
                raise OptionError(f"{symbol} takes integers and floats, not values of {part.quantity.name}")
        left, right = _COMPUTED[symbol](symbol, left, right)
        steps = left.steps + right.steps + _step("compute", left.domain, operation_number(symbol))
        return _Part(steps, max(left.depth, 1 + right.depth), left.domain, _result(left.domain))


def domain_of(kind: DataType) -> str:
    """Return the domain in which values of a type are compared."""
    traits = TRAITS[kind.name]
    families = {"bool": "truth", "decimal": "i128", "string": "text", "binary": "text", "code": "text", "null": "i64"}
    if traits.family == "float":
        return f"f{traits.bits}"
    is_unsigned = traits.family == "integer" and traits.struct.isupper()
    return families.get(traits.family, "u64" if is_unsigned and traits.bits == 64 else "i64")


def _arithmetic(symbol: str, left: _Part, right: _Part) -> tuple[_Part, _Part]:
    """Return the operands of a sum, difference or product in one domain."""
    if left.is_literal:
        return _literal_beside(left, right, symbol)
    if right.is_literal:
        return _literal_beside(right, left, symbol)[::-1]
    if left.domain == right.domain:
        return left, right
    return left.converted("f64"), right.converted("f64")


def _literal_beside(literal: _Part, other: _Part, symbol: str) -> tuple[_Part, _Part]:
    value = Quantity("float").literal(literal.literal)
    if other.domain not in _FLOATS:
        low, high = _RANGES[other.domain]
        if not isinstance(literal.literal, float) and isinstance(value, Fraction) and value.denominator == 1:
            if not low <= value <= high:
                raise OptionError(
                    f"{symbol} of {other.quantity.name} takes integers from {low} to {high}, not {literal.literal!r}"
                )
            return _number(int(value), other), other
        other = other.converted("f64")
    return _number(_as_float(value), other), other


def _quotient(symbol: str, left: _Part, right: _Part) -> tuple[_Part, _Part]:
    """Return the operands of a division of floats."""
    left, right = (part if part.is_literal or part.domain in _FLOATS else part.converted("f64") for part in (left, right))
    return _arithmetic(symbol, left, right)


def _floor_division(symbol: str, left: _Part, right: _Part) -> tuple[_Part, _Part]:
    """Return the operands of a division of integers that rounds down."""
    value = right.literal
    is_divisor = isinstance(value, int) and not isinstance(value, bool) and value > 0
    if not is_divisor or left.is_literal or left.domain in _FLOATS:
        raise OptionError(f"{symbol} takes a column of integers and a positive integer; / divides floats")
    return _arithmetic(symbol, left, right)


_COMPUTED: dict[str, Callable[[str, _Part, _Part], tuple[_Part, _Part]]] = {
    "+": _arithmetic, "-": _arithmetic, "*": _arithmetic, "/": _quotient, "//": _floor_division, "%": _floor_division,
}  # fmt: skip


def _result(domain: str) -> Quantity:
    return Quantity(
        "float" if domain in _FLOATS else "integer", name={"f32": "float32", "f64": "float64"}.get(domain, "integers")
    )


def _step(operation: str, domain: str, a: int = 0, b: int = 0) -> bytes:
    return struct.pack("<IIQQ", _OPERATIONS.index(operation), _DOMAINS.index(domain), a, b)


def _number(value: Any, like: _Part) -> _Part:
    """Return a number in the domain of a value."""
    if like.domain == "i128":
        word = int(value).to_bytes(16, "little", signed=True)
    else:
        word = struct.pack(_FORMATS[like.domain], _rounded(value, like.domain)).ljust(16, b"\0")
    low, high = struct.unpack("<2Q", word)
    return replace(like, steps=_step("number", like.domain, low, high), depth=1)


def _as_float(value: Fraction | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _rounded(value: Any, domain: str) -> Any:
    """Return a float rounded to float32 in that domain; other numbers unchanged."""
    if domain != "f32" or not math.isfinite(value):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _bounded(symbol: str, value: Fraction | float, low: int, high: int) -> tuple[str, int]:
    """Return a comparison of integers from `low` to `high` that is true where the comparison with `value` is.

    Examples
    --------
    >>> (
    ...     _bounded("<", Fraction(5, 2), -128, 127),
    ...     _bounded("==", Fraction(5, 2), -128, 127),
    ...     _bounded("<", Fraction(300), -128, 127),
    ... )
    (('<=', 2), ('<', -128), ('>=', -128))
    """
    never, always = ("<", low), (">=", low)
    if isinstance(value, float) and math.isnan(value):
        return always if symbol == "!=" else never
    if symbol in ("==", "!="):
        if isinstance(value, float) or value.denominator != 1 or not low <= value <= high:
            return never if symbol == "==" else always
        return symbol, int(value)
    is_below = symbol in ("<", "<=")
    if value < low or value > high:
        return always if (value > high) == is_below else never
    assert isinstance(value, Fraction)  # floats are infinite
    if value.denominator == 1:
        return symbol, int(value)
    return ("<=", math.floor(value)) if is_below else (">=", math.ceil(value))


def _text_of(part: _Part, value: Any) -> bytes:
    """Return a literal to be compared with texts or bytes."""
    expected: type[str | bytes] = str if part.family == "string" else bytes
    if not isinstance(value, expected):
        raise OptionError(
            f"{shown(value)} is compared with a column of {part.quantity.name}; compare it with {expected.__name__}"
        )
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)


def _in_common(left: _Part, right: _Part) -> tuple[_Part, _Part]:
    """Return two values in a domain in which they can be compared.

    Raises
    ------
    OptionError
        They cannot be compared.
    """
    one, other = left.quantity, right.quantity
    families = {one.family, other.family}
    if left.domain == right.domain and (one == replace(other, name=one.name)):
        return left, right
    if families <= {"integer", "float"} and "float" in families:
        return left.converted("f64"), right.converted("f64")
    exact = families <= {"integer", "decimal"} or families <= {"date", "timestamp"} or len(families) == 1
    if exact and one.has_zone == other.has_zone and "string" not in families and "binary" not in families:
        per_unit = max(one.per_unit, other.per_unit)
        factors = [per_unit / quantity.per_unit for quantity in (one, other)]
        if all(
            factor == 1 or (part.domain != "i128" and factor < 2**63) for factor, part in zip(factors, (left, right), strict=True)
        ):
            return left.converted("i128", int(factors[0])), right.converted("i128", int(factors[1]))
    raise OptionError(f"values of {one.name} and {other.name} cannot be compared; read the columns as one type")
