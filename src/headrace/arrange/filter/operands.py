"""Values of a condition's program: steps that push a value, its domain, and conversions to a common domain."""

from __future__ import annotations

import math
import struct
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from headrace.arrange.filter.literals import Quantity
from headrace.columns.traits import TRAITS
from headrace.columns.types import DataType
from headrace.core.errors import OptionError, shown
from headrace.core.layouts.layout import layout

OPERATIONS = (
    "column", "number", "convert", "compute", "compare", "&", "|", "^", "~", "is_null", "is_in", "contains", "starts_with",
    "ends_with",
)  # fmt: skip
"""In the order of FilterOperation of filter.hpp."""
DOMAINS = ("i64", "u64", "f32", "f64", "i128", "text", "truth")  # FilterDomain of filter.hpp
FLOATS = ("f32", "f64")
FORMATS = {"i64": "<q", "u64": "<Q", "f32": "<f", "f64": "<d"}
RANGES = {"i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1), "i128": (-(2**127), 2**127 - 1)}
STEP_BYTES = layout("FilterStep").size
_STEP = layout("FilterStep").packer()


def step_bytes(operation: str, domain: str, a: int = 0, b: int = 0) -> bytes:
    """Return the bytes of a step."""
    return _STEP.pack(OPERATIONS.index(operation), DOMAINS.index(domain), a, b)


@dataclass(frozen=True, slots=True)
class FilterOperand:
    """Steps that push a value on the stack."""

    steps: bytes  # the steps; empty for a literal
    depth: int  # maximum depth of the stack
    domain: str  # domain of the value: one of `DOMAINS`
    quantity: Quantity  # Meaning of the value. Its family is ``"null"`` for values that are all null.
    literal: Any = None  # value of a literal

    @property
    def is_literal(self) -> bool:
        """Return whether this is a literal, which has no steps yet."""
        return not self.steps

    @property
    def family(self) -> str:
        """Return the family of the quantity."""
        return self.quantity.family

    def then(self, operation: str, a: int = 0, b: int = 0, domain: str | None = None) -> FilterOperand:
        """Return this value after an operation on it."""
        return replace(self, steps=self.steps + step_bytes(operation, self.domain, a, b), domain=domain or self.domain)

    def converted(self, domain: str, factor: int = 1) -> FilterOperand:
        """Return this value in another domain."""
        if self.domain == domain:
            return self
        step = step_bytes("convert", domain, DOMAINS.index(self.domain), factor)
        return replace(self, steps=self.steps + step, domain=domain)


def domain_of(kind: DataType) -> str:
    """Return the domain in which values of a type are compared."""
    traits = TRAITS[kind.name]
    families = {"bool": "truth", "decimal": "i128", "string": "text", "binary": "text", "code": "text", "null": "i64"}
    if traits.family == "float":
        return f"f{traits.bits}"
    is_unsigned = traits.family == "integer" and traits.struct.isupper()
    return families.get(traits.family, "u64" if is_unsigned and traits.bits == 64 else "i64")


def number_like(value: Any, like: FilterOperand) -> FilterOperand:
    """Return a number in the domain of a value."""
    if like.domain == "i128":
        word = int(value).to_bytes(16, "little", signed=True)
    else:
        word = struct.pack(FORMATS[like.domain], rounded_in(value, like.domain)).ljust(16, b"\0")
    low, high = struct.unpack("<2Q", word)
    return replace(like, steps=step_bytes("number", like.domain, low, high), depth=1)


def as_float(value: Fraction | float) -> float:
    """Return the nearest float, or an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def signed_float(value: Fraction | float, literal: Any) -> float:
    """Return the float nearest to the exact value of a literal; a zero has the sign of the literal.

    >>> signed_float(Fraction(0), -0.0), signed_float(Fraction(1, 2), Fraction(1, 2))
    (-0.0, 0.5)
    """
    return as_float(value) or float(literal)


def rounded_in(value: Any, domain: str) -> Any:
    """Return a float rounded to float32 in that domain; other numbers unchanged."""
    if domain != "f32" or not math.isfinite(value):
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


_GREATEST = {"f32": (2.0 - 2.0**-23) * 2.0**127, "f64": sys.float_info.max}


def is_beyond(value: Fraction | float, domain: str) -> bool:
    """Return whether a number is finite, and an infinity once it is rounded to a domain of floats.

    >>> is_beyond(Fraction(10) ** 39, "f32"), is_beyond(math.inf, "f32"), is_beyond(Fraction(10) ** 39, "f64")
    (True, False, False)
    """
    return isinstance(value, Fraction) and math.isinf(rounded_in(as_float(value), domain))


def bounded_float(symbol: str, value: Fraction | float, domain: str) -> tuple[str, float]:
    """Return a comparison of floats of a domain that is true where the comparison with `value` is.

    >>> bounded_float("<", Fraction(1, 2), "f64"), bounded_float(">", -(Fraction(10) ** 999), "f64")
    (('<', 0.5), ('>=', -1.7976931348623157e+308))
    >>> bounded_float("==", Fraction(10) ** 39, "f32"), bounded_float("!=", Fraction(10) ** 39, "f32")
    (('<', -inf), ('!=', nan))
    """
    if not is_beyond(value, domain):
        return symbol, as_float(value)
    if symbol in ("==", "!="):
        return ("<", -math.inf) if symbol == "==" else ("!=", math.nan)
    is_below, greatest = symbol in ("<", "<="), _GREATEST[domain]
    if value > 0:
        return ("<=" if is_below else ">"), greatest
    return ("<" if is_below else ">="), -greatest


def bounded(symbol: str, value: Fraction | float, low: int, high: int) -> tuple[str, int]:
    """Return a comparison of integers from `low` to `high` that is true where the comparison with `value` is.

    >>> (
    ...     bounded("<", Fraction(5, 2), -128, 127),
    ...     bounded("==", Fraction(5, 2), -128, 127),
    ...     bounded("<", Fraction(300), -128, 127),
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


def text_literal(part: FilterOperand, value: Any) -> bytes:
    """Return a literal to be compared with texts or bytes."""
    expected: type[str | bytes] = str if part.family == "string" else bytes
    if not isinstance(value, expected):
        raise OptionError(
            f"{shown(value)} is compared with a column of {part.quantity.name}; compare it with {expected.__name__}"
        )
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)


def in_common_domain(left: FilterOperand, right: FilterOperand) -> tuple[FilterOperand, FilterOperand]:
    """Return two values in a domain in which they can be compared. Raise OptionError if they cannot be compared."""
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
