"""`read_csv` of words of each size, of UTF-8 at the edges of tiles and fields, and of dates of fixed widths."""

from __future__ import annotations

import datetime
import random

import pytest

import headrace
from headrace import Context
from tests.isas import EACH_ISA

TILES = (64, 100, 4096)


def read_csv(data: bytes, isa: str, tile: int, **options: object) -> headrace.Table:
    return headrace.read_csv(data, context=Context(isa=isa, threads=2), chunk_bytes=tile, header=True, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("size", [1, 7, 8, 9, 63, 64])
def test_words_of_each_size(size: int, isa: str) -> None:
    """A word is null, true or false; a text that has one byte more, less or of another value is not."""
    null, yes, no = "n" * size, "y" * size, "f" * size
    near = [null + "n", null[1:], null[:-1] + "m", yes + "y", "x" + no[1:]]
    rng = random.Random(size)
    texts = [rng.choice([null, yes, no, "", *near, f'"{null}"']) for _ in range(500)]
    data = "\n".join(["a,b", *(f"{text},{text}" for text in texts)]).encode()
    special = {null: None, yes: True, no: False, "": None}
    bools = [special.get(text) for text in texts]
    strings = [None if text in (null, "") else text.strip('"') for text in texts]
    for tile in TILES:
        table = read_csv(
            data, isa, tile, dtypes={"a": "bool", "b": "string"}, null_values=["", null], true_values=[yes],
            false_values=[no], on_error="null",
        )  # fmt: skip
        assert table["a"].to_pylist() == bools
        assert table["b"].to_pylist() == strings


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("nulls", [["NA", "-999", "not available"], ["NA", "-999", "0", "-9999999"]], ids=len)
def test_nulls_among_numbers(nulls: list[str], share: float, isa: str) -> None:
    """Null words that look like numbers, that only begin like one, and that are longer than eight bytes."""
    rng = random.Random(share)
    texts = [rng.choice([*nulls, ""]) if rng.random() < share else str(rng.randrange(-2000, 2000)) for _ in range(700)]
    expected = [None if text in (*nulls, "") else int(text) for text in texts]
    data = "\n".join(["a,b", *(f'{text},"{text}"' for text in texts)]).encode()
    for tile in TILES:
        table = read_csv(data, isa, tile, null_values=["", *nulls], quoted_null=True, dtypes={"a": "int32", "b": "int64"})
        assert table["a"].to_pylist() == expected
        assert table["b"].to_pylist() == expected


INVALID = [
    b"\x80",
    b"\xc3",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xc0\xaf",
    b"\xe0\x80\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xff",
]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("invalid", [b"", *INVALID])
def test_utf8_at_edges(invalid: bytes, isa: str) -> None:
    """Characters across borders of blocks and tiles, and one invalid sequence at each place of a field."""
    for before in range(60, 70):
        fields = [b"x" * before + "é€😀".encode(), b"x" * (130 - before) + "日本".encode()]
        for place in range(3) if invalid else range(1):
            wrong = [invalid + b"ab", b"a" + invalid + b"b", b"ab" + invalid][place]
            rows = [*fields, wrong, *fields, wrong]
            data = b"a,b\n" + b"".join(row + b"," + row + b"\n" for row in rows)
            expected = []
            for row in rows:
                try:
                    expected.append(row.decode())
                except UnicodeDecodeError:
                    expected.append(None)
            for tile in TILES:
                table = read_csv(data, isa, tile, dtypes="string", on_error="null")
                assert table["a"].to_pylist() == expected
                assert table["b"].to_pylist() == expected


FORMATS = [
    "%m/%d/%Y %I:%M:%S %p", "%d-%b-%Y %H:%M", "%y%m%d", "%d.%m.%y %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%b %d %Y %I:%M%p",
    "%H:%M:%S %d/%m/%Y", "%p %I %Y/%m/%d", "%Y%m%d%H%M%S", "x%Y.%m.%d", "%d/%b/%Y:%H:%M:%S %z", "%Y-%m-%d %H:%M:%S.%f%z",
]  # fmt: skip


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("form", FORMATS)
def test_formats_of_fixed_widths(form: str, isa: str) -> None:
    """Each part at its limits, one byte changed, and numbers without leading zeros."""
    rng = random.Random(form)
    zone = datetime.UTC if "%z" in form else None
    texts = []
    for _ in range(400):
        moment = datetime.datetime(
            rng.choice([1970, 1999, 2000, 2024, 2068]), rng.randint(1, 12), rng.randint(1, 28), rng.choice([0, 11, 12, 23]),
            rng.choice([0, 59]), rng.choice([0, 59]), rng.choice([0, 1, 999_999]), tzinfo=zone,
        )  # fmt: skip
        text = moment.strftime(form)
        changed = rng.randrange(len(text))
        texts += [text, text[:changed] + rng.choice("09:/ AaPpMZ") + text[changed + 1 :], text[:-1], text + "0", text.lower()]
    texts = [text for text in texts if "+0" not in text[-7:-5] or text.endswith("+0000")]
    type_ = "timestamp[us, UTC]" if zone else "timestamp[us]"
    data = "\n".join(["a", *texts]).encode()
    reference = read_csv(data, "scalar", 4096, sep="\t", dtypes=type_, date_format=form, on_error="null", null_values=[])
    expected = reference["a"].to_pylist()
    for text, value in zip(texts[::5], expected[::5], strict=True):
        assert value == datetime.datetime.strptime(text, form)
    for tile in TILES:
        table = read_csv(data, isa, tile, sep="\t", dtypes=type_, date_format=form, on_error="null", null_values=[])
        assert table["a"].to_pylist() == expected
