"""Tests that the fast conversion reads texts of PostgreSQL's COPY: escape sequences and a null text that begins with the escape.
Under the fiber harness against `read_csv` on the CPU, with small tiles.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.load.load_gpu_cases import LARGER_SHAPE, SHAPE, check

pytestmark = pytest.mark.fibers

COPY: dict[str, Any] = {"sep": "\t", "quote_char": None, "escape_char": "\\", "escape_sequences": True, "header": False}
TYPES = ["int64", "string", "bool", "string", "date32", "float64", "timestamp[s]"]
PARTS = [*(f"\\{letter}" for letter in "0bfnrtvZNx\\"), "\\\t", "\\\n", "a", "word", "é"]
"""Parts of a string: what COPY writes, also a tab and a line feed after an escape."""
NEAR_NULLS = ["\\\\N", "\\Nx", "x\\N", "\\N\\N", "N", "\\n", "\\\\n", "n", "\\t", "\\\t", "\\\n", "\\\\", "", "null"]
"""Fields that are written or read much like \\N and are not null."""


def written(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(PARTS, k=length))


def text_of(rng: random.Random, rows: int, nulls: float) -> bytes:
    """Return records of `TYPES`, with strings of up to 60 parts; a share of all fields is null."""

    def record(row: int) -> str:
        fields = (
            str(rng.randrange(-(10**6), 10**12)),
            written(rng, rng.choice((0, 1, 2, 9, 60))),
            rng.choice(("true", "false")),
            rng.choice(NEAR_NULLS),
            f"2024-0{rng.randrange(1, 10)}-17",
            f"{rng.uniform(-99, 99):.3f}",
            f"2024-01-17 12:00:{row % 60:02}",
        )
        return "\t".join("\\N" if rng.random() < nulls else field for field in fields) + "\n"

    return "".join(map(record, range(rows))).encode()


@pytest.mark.parametrize("types", [None, TYPES])
def test_no_tile_is_declined(types, left):
    data = text_of(random.Random(1), 300, 0.2)
    check(data, null_values=["\\N"], shape=LARGER_SHAPE, **COPY, **({"schema": types} if types else {}))
    assert left
    assert all((marked, tiles > 5) == (0, True) for marked, tiles in left[-1:])


@pytest.mark.long_except("0", "1")
@pytest.mark.parametrize("seed", range(6))
def test_null_texts_across_the_ends_of_tiles(seed, left):
    """Records of 7 to 11 bytes, so that each end of a tile cuts another byte of one; some strings are longer than a tile."""
    rng = random.Random(seed)
    rows = ["\t".join(("\\N", "xyzuv"[: rng.randrange(6)], "\\N")) for _ in range(1500)]
    for _ in range(3 * (seed % 2)):
        rows[rng.randrange(len(rows))] = "\t".join(("y" * rng.randrange(60, 1500), "\\N", written(rng, 300)))
    data = "".join(row + "\n" for row in rows).encode()
    check(data, seed=seed, skew=seed, null_values=["\\N"], schema=["string"] * 3, **COPY)
    assert left
    assert seed % 2 or all(marked == 0 for marked, _ in left)


@pytest.mark.parametrize("null", ["\\N", "\\\\", "\\\\N", "\\", "\\\\\\N", "\\\\\\\\N", "N", "\n", "x\\N"])
def test_texts_like_null_texts(null):
    """A null text with an escape is compared as it is written, another one with the decoded text."""
    rng = random.Random(null)
    fields = [*NEAR_NULLS, "\\N", "\\\\\\N", "\\\\\\\\N", "x", "\\\\\\\t"]
    data = "".join("\t".join(rng.choices(fields, k=3)) + "\n" for _ in range(400)).encode()
    check(data, null_values=[null], schema=["string"] * 3, shape=SHAPE, **COPY)
    check(data, null_values=[null, ""], schema=["string", "bool", "int32"], on_error="null", **COPY)


@pytest.mark.parametrize("options", [{"skip_initial_space": True}, {}, {"quoted_null": True}])
def test_null_texts_beside_spaces_and_quotes(options):
    rng = random.Random(str(options))
    fields = ["\\N", " \\N", "\\N ", " " * 90 + "\\N", "\\N" + " " * 90, '"\\N"', '""', "word", "", "a\\tb"]
    data = "".join("\t".join(rng.choices(fields, k=3)) + "\n" for _ in range(200)).encode()
    check(data, null_values=["\\N"], schema=["string"] * 3, **{**COPY, "quote_char": '"', **options})


def test_long_strings_with_sequences(left):
    """Of 32 rows with many bytes, a warp copies the strings one by one, or all warps do."""
    rng = random.Random(3)
    rows = [f"{written(rng, rng.choice((20, 40, 200)))}\t{row}" for row in range(120)]
    data = "".join(row + "\n" for row in rows).encode()
    check(data, null_values=["\\N"], schema=["string", "int64"], shape=LARGER_SHAPE, **COPY)
    assert left
