"""Builds tables with few distinct values of all types, and the names of columns that tests compare."""

from __future__ import annotations

from typing import Any

import numpy as np

import headrace
from headrace import Table

ROWS = 400


def table_of(seed: int, rows: int = ROWS, *, encode: str = "none") -> Table:
    """Return a table of all types with few distinct values and nulls."""
    random = np.random.default_rng(seed)
    lines = ["i,f,s,l,b,d,x"]
    texts = ["", "a", "ab", "Rome", "a text of more than twelve bytes", "a text of more than twelve bytez"]
    floats = ["0.0", "-0.0", "nan", "1.5", ""]
    for _ in range(rows):
        picked = random.integers(0, [4, 5, 6, 6, 3, 3, 3])
        integer, text = ["-1", "7", "", "2000000000"][picked[0]], texts[picked[2]]
        date = ["2020-01-01", "1999-12-31", ""][picked[5]]
        longer = texts[picked[3]] or "-"
        lines.append(f'{integer},{floats[picked[1]]},"{text}",{longer},{["true", "false", ""][picked[4]]},{date},{picked[6]}.25')
    dtypes: dict[str, Any] = {"i": "int32", "f": "float64", "s": "string", "l": "large_string", "b": "bool", "d": "date32"}
    if encode != "none":
        dtypes |= {"s": encode, "l": encode}
    return headrace.read_csv("\n".join(lines).encode(), dtypes={**dtypes, "x": "decimal128(10, 2)"}, header=True)


NAMES = (["i"], ["f"], ["s"], ["l"], ["b"], ["d"], ["x"], ["i", "s"], ["s", "f", "b"], ["x", "d", "i", "l"])
