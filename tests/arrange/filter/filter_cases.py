"""Random tables of all column types, and conditions that headrace, Polars and PyArrow take alike."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

Values = Callable[[random.Random], Any]
WORDS = ["", "a", "ab", "abc", "b", "é", "a longer text than twelve bytes", "a longer text than twelve", "z\U0001f600"]
_DAY = datetime.datetime(2024, 1, 1)


def _integers(bits: int, signed: bool) -> Values:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda rng: rng.choice([low, high, rng.randint(max(low, -5), 9), rng.randint(max(low, -5), 9)])


def _moment(rng: random.Random) -> datetime.datetime:
    return _DAY + datetime.timedelta(hours=rng.randint(-30, 30))


TYPES: dict[str, tuple[pa.DataType, Values]] = {
    **{f"i{bits}": (getattr(pa, f"int{bits}")(), _integers(bits, True)) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (getattr(pa, f"uint{bits}")(), _integers(bits, False)) for bits in (8, 16, 32, 64)},
    "f32": (pa.float32(), lambda rng: rng.choice([0.0, -0.0, 0.5, -1.25, 1e30, float("inf"), 3.0])),
    "f64": (pa.float64(), lambda rng: rng.choice([0.0, -0.0, 0.1, -1.25, 1e300, float("-inf"), 3.0])),
    "bool": (pa.bool_(), lambda rng: rng.random() < 0.5),
    "date": (pa.date32(), lambda rng: _moment(rng).date()),
    "time": (pa.time32("ms"), lambda rng: datetime.time(rng.randint(0, 23), 0, rng.randint(0, 1))),
    "moment": (pa.timestamp("us"), _moment),
    "second": (pa.timestamp("s"), _moment),
    "instant": (pa.timestamp("ms", "UTC"), lambda rng: _moment(rng).replace(tzinfo=datetime.UTC)),
    "span": (pa.duration("ms"), lambda rng: datetime.timedelta(milliseconds=rng.randint(-3, 3))),
    "price": (pa.decimal128(20, 2), lambda rng: Decimal(rng.choice([-(10**18), -1, 0, 1, 105, 10**18])).scaleb(-2)),
    "text": (pa.string(), lambda rng: rng.choice(WORDS)),
    "large": (pa.large_string(), lambda rng: rng.choice(WORDS)),
    "bytes": (pa.binary(), lambda rng: rng.choice(WORDS).encode()),
    "view": (pa.string_view(), lambda rng: rng.choice(WORDS)),
    "word": (pa.dictionary(pa.int32(), pa.string()), lambda rng: rng.choice(WORDS)),
    "nothing": (pa.null(), lambda rng: None),
}
"""Arrow type and random values by name of the column."""


def random_table(rows: int, seed: int, nulls: float = 0.2) -> pa.Table:
    """Return a table with a column of each type."""
    rng = random.Random(seed)
    columns = {}
    for name, (kind, values) in TYPES.items():
        found = [None if rng.random() < nulls else values(rng) for _ in range(rows)]
        columns[name] = pa.array(found, pa.string()).dictionary_encode() if name == "word" else pa.array(found, kind)
    return pa.table(columns)


def random_condition(rng: random.Random, leaves: list[Any], depth: int) -> Any:
    """Return a random combination of conditions."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(leaves)
    left = random_condition(rng, leaves, depth - 1)
    if rng.random() < 0.25:
        return ~left
    right = random_condition(rng, leaves, depth - 1)
    return left & right if rng.random() < 0.5 else left | right
