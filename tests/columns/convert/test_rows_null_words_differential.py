"""Tests several null texts among strings by rows, under the fiber harness against `read_csv` on the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.convert.rows_cases import shape
from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers

NULLS = ["NA", "N/A", "null", "-", "#N/A N/A"]
TEXTS = [*NULLS, "", "NAN", "N", "nul", "nullnull", "a text", "x" * 70, "NA ", '"NA"', '"a ""b"""', "é", "--"]
ESCAPED = ["N\\A", "\\NA", "\\-", "\\\\"]


def read(seed: int, texts: list[str], nulls: list[str], **options: Any) -> None:
    """Compare the answers for a text of numbers and two columns of strings."""
    rng, sep, end = random.Random(seed), options.get("sep", ","), "\r\n" if seed % 3 == 1 else "\n"
    lines = [sep.join([rng.choice(texts), rng.choice(["1", "NA", "-7"]), rng.choice(texts)]) for _ in range(500)]
    given = {"header": False, "schema": ["string", "int32", "string"], "on_error": "null", "null_values": nulls, **options}
    check((end.join(lines) + end).encode(), **given, skew=seed % 16, seed=seed, shape=shape())


@pytest.mark.long_except("[012]-*")
@pytest.mark.parametrize("options", [{}, {"comment": "#"}, {"quote_char": None}], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_no_tile_is_declined(left, seed, options):
    read(
        seed,
        TEXTS if options.get("quote_char", "") is not None else [text for text in TEXTS if '"' not in text],
        NULLS,
        **options,
    )
    marked, tiles = left[-1]
    assert marked == 0 and tiles > 5


@pytest.mark.long_except("[01]-*")
@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({"escape_char": "\\"}, [*TEXTS, *ESCAPED]),
        ({"escape_char": "\\", "quote_char": None}, [*TEXTS[:-5], *ESCAPED]),
        ({"skip_initial_space": True}, [*TEXTS, " NA", '  "NA"', "  -"]),
        ({"strip": True}, [*TEXTS, " NA ", ' "NA" ', "null  "]),
        ({"quoted_null": True}, TEXTS),
        ({"short_records": "null"}, TEXTS),
        ({"lenient_quotes": True}, [*TEXTS, '"a"b', 'N"A']),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(6))
def test_other_dialects(seed, options, texts):
    """Fields of which bytes are dropped are left to the rules."""
    read(seed, texts, NULLS, **options)


@pytest.mark.parametrize("nulls", [["a long text", "NA"], ["NA"], ["", "NA"], ["NA", "é"], ["1", "x"]], ids=str)
def test_lists_of_null_texts(nulls):
    """A field as long as a null text of more than eight bytes is left to the rules."""
    read(1, [*TEXTS, "a long text", "a long tex!"], nulls)


def test_columns_with_texts_of_their_own():
    rng = random.Random(1)
    data = "".join(f"{rng.choice(TEXTS)},{rng.choice(TEXTS)},{rng.choice(TEXTS)}\n" for _ in range(300))
    own = {"a": ["NA", "-"], "b": ["null"]}
    check(("a,b,c\n" + data).encode(), null_values=own, on_error="null", schema=dict.fromkeys("abc", "string"), shape=shape())
