"""Empty fields, other texts that mean null, and wide integers on a GPU, under the fiber harness, against the CPU."""

from __future__ import annotations

import random
from typing import Any

import pytest

from headrace.core.errors import OptionError
from tests.columns.load.load_gpu_cases import check, read_on_fibers

pytestmark = pytest.mark.fibers

NULLS: list[Any] = ["auto", ["NA"], ["NA", ""], [], {"a": ["NA"], "c": []}, {"b": "x", "d": ["", "-"]}]
FIELDS = {
    "a": ["1", "22", "-3", "", "", "NA"],
    "b": ["0.5", "1", "", "NA", "x"],
    "c": ["2024-01-01", "", "NA"],
    "d": ["x", "", '""', "-", "NA", "a longer text that is put aside"],
    "e": ["", "", "NA"],
    "f": ["true", "false", ""],
}


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("nulls", NULLS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_empty_fields_and_texts_that_mean_null(seed: int, nulls: Any) -> None:
    rng = random.Random(seed)
    rows = [",".join(rng.choice(texts) for texts in FIELDS.values()) for _ in range(rng.choice((3, 40, 150)))]
    data = "\n".join([",".join(FIELDS), *rows, ""]).encode()
    options: dict[str, Any] = {"null_values": nulls, "quoted_null": rng.random() < 0.3}
    if rng.random() < 0.5:
        options |= {"dtypes": {"a": "int32", "b": "float64", "c": "date32"}, "on_error": "null"}
    if rng.random() < 0.3:
        options["skip_initial_space"] = True
    check(data, seed=seed, **options)


@pytest.mark.parametrize("texts", ["", "NA", ",NA,"])
def test_columns_without_a_value(texts: str) -> None:
    data = "a,b\n" + "".join(f"{text},1\n" for text in texts.split(",") * 30)
    check(data.encode(), null_values=["NA"])
    check(data.encode(), null_values="auto")


@pytest.mark.covering(default=2)
@pytest.mark.parametrize(
    "wide", ["12345678901234567890123", "-9223372036854775809", "18446744073709551616", "9223372036854775808"]
)
@pytest.mark.parametrize("other", ["1.5", "-1", "7", ""])
@pytest.mark.parametrize("last", [False, True])
def test_integers_beyond_int64(wide: str, other: str, last: bool) -> None:
    fields = [other] * 60 + [wide] if last else [wide] + [other] * 60
    check(("a,b\n" + "".join(f"{text},1\n" for text in fields)).encode())


@pytest.mark.parametrize(
    "fields", ["9007199254740993 1.5", "1.5 7 -9223372036854775807", "1.5 9007199254740994", "1 9007199254740993"]
)
@pytest.mark.parametrize("marks", [False, True])
def test_rounded_integers(fields: str, marks: bool) -> None:
    options: dict[str, Any] = {"thousands": "_"} if marks else {}
    rows = "".join(f"{text},1\n" for text in ["0", *fields.split(), "2"] * 20)
    check(("a,b\n" + rows).encode(), **options)


WRITTEN = [r"\N", r"\\N", "N", r"\\\N", r"x\N", "", "5", r"\5", '"\\N"', '"N"', "\\N" * 15, "\\N" * 40, "y" * 70 + r"\,"]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("given", [{}, {"quote_char": None}, {"skip_initial_space": True}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_nulls_with_the_escape(seed: int, given: dict[str, Any]) -> None:
    r"""`\N` as bytes of the field, also across the edges of tiles and in columns without types."""
    rng = random.Random(seed)
    columns = [WRITTEN, [r"\N", "1", "22"], [r"\N", ""], [r"\N", "0.5", r"1\.5"], [r"\N", "2024-01-31"]]
    rows = [",".join(rng.choice(texts) for texts in columns) for _ in range(rng.choice((3, 40, 150)))]
    data = "\n".join(["a,b,c,d,e", *rows, ""]).encode()
    nulls = rng.choice([["\\N"], ["\\N", "5", ""], ["\\N" * 15], {"a": "\\N", "b": ["\\N"]}])
    options: dict[str, Any] = {"header": True, "escape_char": "\\", "null_values": nulls, "quoted_null": seed % 2 == 0, **given}
    check(data, seed=seed, on_error="null", **options)
    check(data, seed=seed, on_error="null", dtypes={"b": "int32", "d": "float64", "e": "date32"}, **options)


@pytest.mark.parametrize("dtypes", [{"a": "string"}, None])
def test_nulls_longer_than_the_bytes_before_a_tile_are_refused(dtypes: Any) -> None:
    """A tile copies the first bytes of a string that ends in a later one, before it is known to be null."""
    texts = ["n" * 31, "n" * 32]
    data = "\n".join(["a,b", *(f"{word * 40},{texts[0]}" for word in ("x", "yz") * 60), *(f"{texts[0]},1" for _ in range(60))])
    check(data.encode(), null_values=texts[0], dtypes=dtypes)
    with pytest.raises(OptionError, match="null_values: a text of 32 bytes is too long"):
        read_on_fibers(data.encode(), null_values=texts, dtypes=dtypes)
    check(b"a\n1\n" + texts[1].encode() + b"\n", null_values=texts, dtypes={"a": "int64"})
