"""Bucket functions as values: which bucket of `count` a key is in, for GPU and CPU alike (rules.hpp).

They are `headrace.buckets`:

>>> import headrace
>>> headrace.buckets.bits(4, 8)
BucketFunction('bits', 16, (4, 8))
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headrace.arrange.bucket.buckets import MOST, Edges, between, between_wide
from headrace.arrange.bucket.described import described
from headrace.arrange.bucket.key_types import WIDE
from headrace.core.errors import OptionError, shown
from headrace.core.expressions.expression import Expression
from headrace.core.options import integer, number

__all__ = ["BucketFunction", "bits", "computed", "even", "hash", "identity", "modulo", "splitters", "where"]

MOST_BITS = 24
"""Of a bucket's number."""
_LAST_BIT = 127


@dataclass(frozen=True, slots=True, eq=False)
class BucketFunction:
    """Which bucket a key is in. Made by the functions of `headrace.buckets`.

    Parameters
    ----------
    kind
        Name of the rule.
    count
        How many buckets there are.
    parameters
        What the rule needs besides.
    """

    kind: str
    count: int
    parameters: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"BucketFunction({self.kind!r}, {self.count}, {self.parameters})"


def identity(m: int) -> BucketFunction:
    """The key itself.

    Parameters
    ----------
    m
        How many buckets, 1 to 2**24. Keys are whole numbers from 0 to below `m`; another one is an error of the split.

    Raises
    ------
    OptionError
        `m` is no such number.

    Examples
    --------
    >>> identity(4)
    BucketFunction('identity', 4, ())
    """
    return BucketFunction("identity", _checked(m))


def bits(low: int, high: int) -> BucketFunction:
    """Some bits of a key: ``bits(4, 8)`` of 0x1234 is 3. Floats are taken by the bits that they have in memory.

    Parameters
    ----------
    low, high
        From which bit on, and to before which; 24 bits at most.

    Raises
    ------
    OptionError
        There are no such bits.
    """
    low = integer("low", low, "the number of a bit, 0 to 127", 0, _LAST_BIT)
    high = integer("high", high, "the number of a bit, 1 to 128", 1, _LAST_BIT + 1)
    if not (low < high and high - low <= MOST_BITS):
        raise OptionError(f"bits from low={low} to high={high}: low must be below high, by {MOST_BITS} bits at most")
    return BucketFunction("bits", 1 << (high - low), (low, high))


def even(low: float, high: float, m: int) -> BucketFunction:
    """Parts of equal width, as in `headrace.histogram`.

    Parameters
    ----------
    low, high
        The lowest key, and the one that is just in no bucket. A key outside, or NaN, is an error of the split.
    m
        How many parts, 2 to 65,536.

    Raises
    ------
    OptionError
        `m` is no such number; the split tells of a range that its keys' type does not have.
    """
    low, high = number("low", low, "a number"), number("high", high, "a number")
    return BucketFunction("even", _checked(m, MOST), (low, high))


def splitters(edges: Sequence[float] | Any) -> BucketFunction:
    """Between which two edges, as in `headrace.histogram`.

    Parameters
    ----------
    edges
        Ascending numbers of the keys' type, one more than there are buckets: bucket `i` has the keys from edge `i` up to, and
        without, edge `i` + 1. A key outside of all, or NaN, is an error of the split.

    Raises
    ------
    OptionError
        They are not a sequence or an array.
    """
    is_text = isinstance(edges, str | bytes | bytearray)
    is_array = any(hasattr(edges, name) for name in ("__array_interface__", "__cuda_array_interface__", "__dlpack__"))
    if is_text or not (isinstance(edges, Sequence) or is_array) or len(getattr(edges, "shape", (1,))) not in (1, 2):
        raise OptionError.wrong("edges", "a sequence or an array of edges", edges)
    return BucketFunction("splitters", len(edges) - 1, (edges,))


def modulo(m: int) -> BucketFunction:
    """What is left of a whole number that is divided, from 0 on, as Python's ``%`` has it.

    Parameters
    ----------
    m
        By what: how many buckets, 1 to 2**24.

    Raises
    ------
    OptionError
        `m` is no such number.
    """
    return BucketFunction("modulo", _checked(m))


def hash(m: int) -> BucketFunction:  # noqa: A001 (it is a name in a module of such)
    """By a hash of the key's value: -0.0 and 0.0 share a bucket, and so do all NaN.

    Parameters
    ----------
    m
        How many buckets, 1 to 2**24.

    Raises
    ------
    OptionError
        `m` is no such number.
    """
    return BucketFunction("hash", _checked(m))


def where(predicate: Expression) -> BucketFunction:
    """Two buckets: keys for which an expression is true, and the others behind them.

    Parameters
    ----------
    predicate
        A function of keys such as ``headrace.key < 100``; it is true where it is not 0. Keys of 16 bytes have the parts
        ``headrace.key.low`` and ``headrace.key.high``.

    Raises
    ------
    OptionError
        It is no expression.
    """
    if not isinstance(predicate, Expression):
        raise OptionError.wrong("predicate", "an expression such as headrace.key < 100", predicate)
    return BucketFunction("computed", 2, (predicate == 0,))


def computed(m: int, expression: Expression) -> BucketFunction:
    """The value of an expression.

    Parameters
    ----------
    m
        How many buckets, 1 to 2**24; another value is an error of the split.
    expression
        A function of keys such as ``headrace.key % 7``; of floats, such as ``headrace.key / 0.25``, the whole part is the
        bucket. Numbers are of the keys' type (of narrower whole numbers those of 4 bytes), and a value may not be below 0.

    Raises
    ------
    OptionError
        `m` is no such number, or the other no expression.
    """
    if not isinstance(expression, Expression):
        raise OptionError.wrong("expression", "built from headrace.key, such as headrace.key % 7", expression)
    return BucketFunction("computed", _checked(m), (expression,))


@dataclass(frozen=True, slots=True)
class Rule:
    """A bucket function for keys of one type.

    Parameters
    ----------
    name
        Of its structure in rules.hpp, ``"BitsOf"`` or ``"AnyOf"``; ``"BetweenOf"``, ``"Computed"``.
    count
        How many buckets there are.
    is_total
        Whether every key is in one.
    description
        The structure's bytes; of ``"BetweenOf"`` the edges, of ``"Computed"`` the expression.
    """

    name: str
    count: int
    is_total: bool
    description: bytes | Edges | Computing


@dataclass(frozen=True, slots=True)
class Computing:
    """An expression of keys of one type, as NumPy writes it without byte order."""

    expression: Expression
    keys: str

    def as_c(self) -> str:
        """The bucket, for a kernel."""
        return self.expression.bucket_as_c(self.keys)

    def as_program(self) -> bytes:
        """For the CPU."""
        return self.expression.as_program(self.keys)


def rule_for(function: BucketFunction, dtype: Any, edges: Any = None) -> Rule:
    """The rule of a bucket function; `edges` are those on the host of one that has them.

    Raises
    ------
    OptionError
        It is no function of keys of this type.
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
        return Rule("BitsOf", count, True, struct.pack("<II", low, count - 1))
    if count == 1 and kind == "modulo":  # nothing to be divided by
        kind = "hash"
    if dtype.kind == "V" and kind == "even":
        raise OptionError("even() is not for keys of 16 bytes; splitters(), bits() or an expression of key.high cut their range")
    if dtype.kind == "f" and kind in {"identity", "modulo"}:
        raise OptionError(f"{kind}() is a function of whole numbers, and keys are of {dtype}")
    description = described(kind, count, function.parameters, dtype)
    return Rule("AnyOf", count, kind in {"modulo", "hash"}, description)


def _checked(m: object, most: int = 1 << MOST_BITS, name: str = "m") -> int:
    return integer(name, m, f"a number of buckets, an integer from 1 to {most}", 1, most)
