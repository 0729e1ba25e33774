"""Defines bucket functions as values, the same for GPU and CPU (rules.hpp).

This module is `headrace.buckets`:

>>> import headrace
>>> headrace.buckets.bits(4, 8)
BucketFunction('bits', 16, (4, 8))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.arrange.bucket.buckets import MAX_BUCKETS, Edges, between, between_wide
from headrace.arrange.bucket.described import described
from headrace.arrange.bucket.key_types import WIDE
from headrace.arrange.bucket.layouts import rule_layout
from headrace.core.errors import OptionError, shown
from headrace.core.expressions.expression import Expression
from headrace.core.options import integer, number

__all__ = ["BucketFunction", "bits", "computed", "even", "hash", "identity", "modulo", "splitters", "where"]

MAX_BITS = 24  # maximum number of bits of a bucket number
_LAST_BIT = 127


@dataclass(frozen=True, slots=True, eq=False)
class BucketFunction:
    """Function from keys to bucket numbers, created by the functions of `headrace.buckets`.

    Parameters
    ----------
    kind
        Name of the rule.
    count
        Number of buckets.
    parameters
        Other arguments of the rule.
    """

    kind: str
    count: int
    parameters: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"BucketFunction({self.kind!r}, {self.count}, {self.parameters})"


def identity(m: int) -> BucketFunction:
    """Return the function whose bucket is the key itself.

    Parameters
    ----------
    m
        Number of buckets, 1 to 2**24. Keys are integers from 0 to `m` - 1; the split raises an error for any other key.

    Raises
    ------
    OptionError
        `m` is out of range.

    Examples
    --------
    >>> identity(4)
    BucketFunction('identity', 4, ())
    """
    return BucketFunction("identity", _checked(m))


def bits(low: int, high: int) -> BucketFunction:
    """Return the function whose bucket is a range of bits of the key: ``bits(4, 8)`` of 0x1234 is 3.

    Floats are split by the bits of their representation in memory.

    Parameters
    ----------
    low, high
        First bit, and first bit after the range; at most 24 bits.

    Raises
    ------
    OptionError
        The range is empty, too long, or outside of the key.
    """
    low = integer("low", low, "the number of a bit, 0 to 127", 0, _LAST_BIT)
    high = integer("high", high, "the number of a bit, 1 to 128", 1, _LAST_BIT + 1)
    if not (low < high and high - low <= MAX_BITS):
        raise OptionError(f"bits from low={low} to high={high}: low must be below high, by {MAX_BITS} bits at most")
    return BucketFunction("bits", 1 << (high - low), (low, high))


def even(low: float, high: float, m: int) -> BucketFunction:
    """Return the function of buckets of equal width, as in `headrace.histogram`.

    Parameters
    ----------
    low, high
        Lowest key of the first bucket, and end of the last bucket, which is excluded. The split raises an error for keys outside
        of this range, and for NaN.
    m
        Number of buckets, 2 to 65,536.

    Raises
    ------
    OptionError
        `m` is out of range. The split raises it for a range that the type of its keys cannot represent.
    """
    low, high = number("low", low, "a number"), number("high", high, "a number")
    return BucketFunction("even", _checked(m, MAX_BUCKETS), (low, high))


def splitters(edges: Sequence[float] | Any) -> BucketFunction:
    """Return the function of buckets between edges, as in `headrace.histogram`.

    Parameters
    ----------
    edges
        Ascending numbers of the keys' type, one more than there are buckets. Bucket `i` has the keys from edge `i` up to, and
        without, edge `i` + 1. The split raises an error for keys outside of all buckets, and for NaN.

    Raises
    ------
    OptionError
        `edges` is not a sequence or an array.
    """
    is_text = isinstance(edges, str | bytes | bytearray)
    is_array = any(hasattr(edges, name) for name in ("__array_interface__", "__cuda_array_interface__", "__dlpack__"))
    if is_text or not (isinstance(edges, Sequence) or is_array) or len(getattr(edges, "shape", (1,))) not in (1, 2):
        raise OptionError.wrong("edges", "a sequence or an array of edges", edges)
    return BucketFunction("splitters", len(edges) - 1, (edges,))


def modulo(m: int) -> BucketFunction:
    """Return the function whose bucket is the non-negative remainder of an integer, as Python's ``%``.

    Parameters
    ----------
    m
        Divisor and number of buckets, 1 to 2**24.

    Raises
    ------
    OptionError
        `m` is out of range.
    """
    return BucketFunction("modulo", _checked(m))


def hash(m: int) -> BucketFunction:  # noqa: A001 (it is a name in a module of such)
    """Return the function of a hash of the key's value: -0.0 and 0.0 share a bucket, and so do all NaN.

    Parameters
    ----------
    m
        Number of buckets, 1 to 2**24.

    Raises
    ------
    OptionError
        `m` is out of range.
    """
    return BucketFunction("hash", _checked(m))


def where(predicate: Expression) -> BucketFunction:
    """Return the function of two buckets: keys for which an expression is true, then all others.

    Parameters
    ----------
    predicate
        Function of keys such as ``headrace.key < 100``; a value other than 0 is true. Keys of 16 bytes have the parts
        ``headrace.key.low`` and ``headrace.key.high``.

    Raises
    ------
    OptionError
        `predicate` is not an expression.
    """
    if not isinstance(predicate, Expression):
        raise OptionError.wrong("predicate", "an expression such as headrace.key < 100", predicate)
    return BucketFunction("computed", 2, (predicate == 0,))


def computed(m: int, expression: Expression) -> BucketFunction:
    """Return the function whose bucket is the value of an expression.

    Parameters
    ----------
    m
        Number of buckets, 1 to 2**24. The split raises an error for values outside of 0 to `m` - 1.
    expression
        Function of keys such as ``headrace.key % 7``. For floats, such as ``headrace.key / 0.25``, the bucket is the integer
        part. Numbers have the keys' type; integers narrower than 4 bytes are widened to 4.

    Raises
    ------
    OptionError
        `m` is out of range, or `expression` is not an expression.
    """
    if not isinstance(expression, Expression):
        raise OptionError.wrong("expression", "built from headrace.key, such as headrace.key % 7", expression)
    return BucketFunction("computed", _checked(m), (expression,))


@dataclass(frozen=True, slots=True)
class Rule:
    """Bucket function for keys of one type."""

    name: str  # name of the struct in rules.hpp: `"BitsOf"`, `"AnyOf"`, `"BetweenOf"` or `"Computed"`
    count: int  # number of buckets
    is_total: bool  # True if every key is in a bucket
    description: bytes | Edges | Computing  # bytes of the struct; for `"BetweenOf"` the edges, for `"Computed"` the expression


@dataclass(frozen=True, slots=True)
class Computing:
    """Expression for keys of one type, which is written as in NumPy but without byte order."""

    expression: Expression
    keys: str

    def as_c(self) -> str:
        """Return the bucket as C, for a kernel."""
        return self.expression.bucket_as_c(self.keys)

    def as_program(self) -> bytes:
        """Return the program for the CPU (expression.hpp)."""
        return self.expression.as_program(self.keys)


def rule_for(function: BucketFunction, dtype: Any, edges: Any = None) -> Rule:
    """Return the rule of a bucket function for keys of a type.

    `function`, `dtype`: the function and the NumPy type of the keys. `edges`: edges in host memory, if the function has
    edges. Raise OptionError if the function does not take keys of this type.
    """
    if not isinstance(function, BucketFunction):
        hint = "; give it a number of buckets: buckets.computed(m, expression)" if isinstance(function, Expression) else ""
        raise OptionError(
            f"buckets must be a function of headrace.buckets, such as buckets.modulo(7), not {shown(function)}{hint}"
        )
    kind, count = function.kind, function.count
    if kind == "computed":
        expression = function.parameters[0]
        keys = WIDE[1:] if dtype.kind == "V" else dtype.str[1:]
        expression.check(keys)
        return Rule("Computed", count, count > 1 and expression.is_truth, Computing(expression, keys))
    if kind == "splitters":
        found = between_wide(edges) if dtype.kind == "V" else between(dtype, edges)
        return Rule("BetweenOf", len(found.given) - 1, False, found)
    if kind == "bits":
        low, high = function.parameters
        if high > dtype.itemsize * 8:
            raise OptionError(f"keys of {dtype} have {dtype.itemsize * 8} bits; bits({low}, {high}) is beyond")
        return Rule("BitsOf", count, True, rule_layout("BitsOf", dtype).pack(low, count - 1))
    if count == 1 and kind == "modulo":  # the division by a multiplication needs a divisor above 1
        kind = "hash"
    if dtype.kind == "V" and kind == "even":
        raise OptionError("even() is not for keys of 16 bytes; splitters(), bits() or an expression of key.high cut their range")
    if dtype.kind == "f" and kind in {"identity", "modulo"}:
        raise OptionError(f"{kind}() is a function of integers, and keys are of {dtype}")
    description = described(kind, count, function.parameters, dtype)
    return Rule("AnyOf", count, kind in {"modulo", "hash"}, description)


def unbucketed_error(rule: Rule, count: int) -> OptionError:
    """Return the error for `count` keys that are in no bucket of a rule."""
    keys = "1 key is" if count == 1 else f"{count:_} keys are"
    return OptionError(f"{keys} in none of the {rule.count} buckets (outside of their range, or NaN); nothing was split")


def _checked(m: object, max_count: int = 1 << MAX_BITS, name: str = "m") -> int:
    return integer(name, m, f"a number of buckets, an integer from 1 to {max_count}", 1, max_count)
