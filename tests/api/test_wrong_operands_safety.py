"""Tests operators and methods of expressions with operands of every kind: a result, or an error of this package."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from wrong_arguments import LONGEST_MESSAGE
from wrong_values import array_values, likely_values, plain_values

import headrace
from headrace import HeadraceError, OptionError, buckets, col, key

VALUES = plain_values() | array_values() | likely_values()
TABLE = headrace.read_csv(b"a,b,t,u,x\n1,x,2020-01-01 00:00:00,1 days 00:00:00,12:30:00\n")
KEYS = np.arange(4, dtype=np.uint32)
CALLS: dict[str, Callable[[object], object]] = {
    "==": lambda value: TABLE.filter(col("a") == value),
    "== of texts": lambda value: TABLE.filter(col("b") == value),
    "== of timestamps": lambda value: TABLE.filter(col("t") == value),
    "== of durations": lambda value: TABLE.filter(col("u") == value),
    "== of times": lambda value: TABLE.filter(col("x") == value),
    "+": lambda value: TABLE.filter(col("a") + value > 1),
    "//": lambda value: TABLE.filter(col("a") // value > 1),
    "&": lambda value: TABLE.filter((col("a") > 1) & value),
    "is_in": lambda value: TABLE.filter(col("a").is_in(value)),
    "is_in of texts": lambda value: TABLE.filter(col("b").is_in(value)),
    "between": lambda value: TABLE.filter(col("a").between(value, value)),
    "closed": lambda value: TABLE.filter(col("a").between(0, 1, value)),
    "contains": lambda value: TABLE.filter(col("b").str.contains(value)),
    "key +": lambda value: headrace.multisplit(KEYS, buckets.computed(64, (key + value) % 64)),
    "key >>": lambda value: key >> value,
    "key %": lambda value: key % value,
    "key /": lambda value: key / value,
    "value of a key": (key % 7).of,
    "type of keys": (key % 7).as_c,
}


@pytest.mark.parametrize("name", CALLS)
def test_operands_of_every_kind(name: str) -> None:
    faults = []
    for kind, make in VALUES.items():
        try:
            CALLS[name](make())
        except HeadraceError as error:
            if len(str(error)) > LONGEST_MESSAGE:
                faults.append(f"{kind}: the message is too long")
        except Exception as error:  # noqa: BLE001  which error it is, is the question
            faults.append(f"{kind}: {type(error).__name__}: {error}")
    assert not faults, "\n".join(faults)


def test_numbers_of_numpy_are_numbers_of_an_expression() -> None:
    for kind in (np.int64, np.uint8):
        assert (key % kind(7)).as_c() == (key % 7).as_c()
        assert (kind(3) + key >> kind(2)).as_c() == (3 + key >> 2).as_c()
    assert (key > np.float32(1.5)).as_c("f4") == (key > 1.5).as_c("f4")
    for wrong in (np.True_, True, np.array([1, 2])):
        with pytest.raises(OptionError):
            _ = key % wrong
