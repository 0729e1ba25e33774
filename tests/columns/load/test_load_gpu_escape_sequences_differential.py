"""Escape sequences at the ends of tiles, and in fields of several tiles, on a GPU under the fiber harness, against the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.load.load_gpu_cases import check

pytestmark = pytest.mark.fibers


@pytest.mark.long_except("0", "1")
@pytest.mark.parametrize("seed", range(8))
def test_texts_of_several_tiles(seed: int) -> None:
    """Pairs begin at even and odd bytes, so each end of a tile, and of the 64 bytes before it, cuts some."""
    rng = random.Random(seed)
    parts = [*(f"\\{letter}" for letter in "0bfnrtvZN\\"), "\\\t", "t"]
    texts = ["".join(rng.choices(parts, k=rng.choice((0, 1, 40, 700, 1500)))) for _ in range(30)]
    rows = [f"{number}\t{text}\t{'z' * (number % 3)}\\N" for number, text in enumerate(texts)]
    options: dict[str, Any] = {"sep": "\t", "quote_char": None, "escape_char": "\\", "escape_sequences": True, "header": False}
    check("\n".join([*rows, ""]).encode(), seed=seed, null_values=rng.choice([["\\N"], ["\\N", "\n\t"], [""]]), **options)


@pytest.mark.long_except("0")
@pytest.mark.parametrize("seed", range(4))
def test_words_and_values(seed: int) -> None:
    """Null texts, bools and numbers are compared with the decoded text."""
    rng = random.Random(seed)
    fields = ["\\n", "\\\\", "\\N", "1", "\\1", "1\\0", "tr\\ue", "true", "\\true", "x\\ty", '"\\n"', '"a\\tb"']
    data = "\n".join(",".join(rng.choices(fields, k=3)) for _ in range(80)).encode()
    options: dict[str, Any] = {"escape_char": "\\", "escape_sequences": True, "header": False, "quoted_null": seed % 2 == 0}
    types: Any = rng.choice([None, ["string", "int64", "bool"]])
    given = {} if types is None else {"schema": types, "on_error": "null"}
    check(data, seed=seed, null_values=["\n", "x\ty", "\\N"], **options, **given)


def test_plain_null_texts() -> None:
    """The fast conversion reads these records."""
    rows = [f"{n}\ta\\tb{'x' * (n % 40)}\\nc\t{n / 7:.3f}\t\\\\t{n}" for n in range(600)]
    options: dict[str, Any] = {"sep": "\t", "quote_char": None, "escape_char": "\\", "escape_sequences": True, "header": False}
    for types in (None, ["int64", "string", "float64", "string"]):
        check("\n".join([*rows, ""]).encode(), seed=1, **options, **({} if types is None else {"schema": types}))
