"""Tests records that are longer than what the conversion by rows stages before a tile, under the fiber harness. Each tile reads
the fields that end in it. Tables equal those of `read_csv` on the CPU, and no tile is left to the general conversion.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, SHAPE, check
from tests.tiers import seeds

pytestmark = pytest.mark.fibers

KINDS = ["int32", "int64", "float64", "date32", "string", "string", "string", "large_string"]
LENGTHS = [0, 1, 5, 20, 62, 63, 64, 65, 90, 200, 700, 960, 1100, 2500, 5000]


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of tiles that the conversion by rows left to the general one, and the number of all tiles."""
    counts, launch = [0, 0], FiberLauncher.launch

    def counted(self: FiberLauncher, entry, shape, args) -> None:
        launch(self, entry, shape, args)
        if entry.name == "convert_rows":
            marks = self.fetch(args[6]).view(np.uint32)
            self.waits -= 1
            counts[0] += int((marks != 0).sum())
            counts[1] += len(marks)

    monkeypatch.setattr(FiberLauncher, "launch", counted)
    return counts


def quoted(rng: random.Random, text: str) -> str:
    """Return the text in quotes, with delimiters and doubled quotes in it."""
    odd = rng.choice(["", ", ", "\n", '""', ',"",'])
    return '"' + "".join(odd if rng.random() < 0.2 else byte for byte in text) + '"'


def field(rng: random.Random, kind: str, lengths: list[int], quotes: float = 0.0) -> str:
    if rng.random() < quotes:
        text = field(rng, kind, lengths)
        return quoted(rng, text) if "string" in kind else f'"{text}"'
    if kind == "date32":
        return f"20{rng.randrange(10, 99)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)}"
    if "string" in kind:
        size = rng.choice(lengths)
        return "".join(rng.choices("abc d.x", k=size)) if size < 100 else (rng.choice("pqr") + "stu vw") * (size // 7)
    return str(rng.randrange(10 ** rng.randrange(1, 8))) + (".5" if kind == "float64" else "")


def text_of(rng: random.Random, kinds: list[str], lengths: list[int], blank: float = 0.0, quotes: float = 0.0) -> bytes:
    records = [",".join(field(rng, kind, lengths, quotes) for kind in kinds) for _ in range(rng.randrange(1, 60))]
    lines = ["\n" * rng.randrange(1, 4) + record if rng.random() < blank else record for record in records]
    return ("\n".join(lines) + ("\n" if rng.random() < 0.7 else "")).encode()


@pytest.mark.parametrize("seed", seeds(40))
def test_tables(left: list[int], seed: int) -> None:
    rng = random.Random(seed)
    kinds = ["string", *rng.choices(KINDS, k=rng.randrange(1, 7))]
    rng.shuffle(kinds)
    lengths = rng.choice([LENGTHS, [3, 4000], [1, 2, 3, 1500], [400], [10, 600, 30]])
    data = text_of(rng, kinds, lengths, rng.choice([0.0, 0.0, 0.3]))
    shape, skew = rng.choice([SHAPE, LARGER_SHAPE]), rng.randrange(16)
    options = {"header": False, "skew": skew, "seed": seed, "shape": shape}
    check(data, schema=kinds, **options)
    assert left[0] == 0
    wanted = sorted(rng.sample(range(len(kinds)), rng.randrange(1, len(kinds) + 1)))
    check(data, schema=kinds, columns=wanted, **options)
    check(data, **options)


@pytest.mark.parametrize("seed", seeds(40))
def test_tables_with_quotes(left: list[int], seed: int) -> None:
    rng = random.Random(seed)
    kinds = ["string", *rng.choices(KINDS, k=rng.randrange(1, 7))]
    rng.shuffle(kinds)
    lengths = rng.choice([LENGTHS, [3, 4000], [1, 2, 3, 1500], [400], [10, 600, 30]])
    data = text_of(rng, kinds, lengths, rng.choice([0.0, 0.0, 0.3]), rng.choice([0.05, 0.5, 1.0]))
    options = {"header": False, "skew": rng.randrange(16), "seed": seed, "shape": rng.choice([SHAPE, LARGER_SHAPE])}
    check(data, schema=kinds, **options)
    wanted = sorted(rng.sample(range(len(kinds)), rng.randrange(1, len(kinds) + 1)))
    check(data, schema=kinds, columns=wanted, **options)
    check(data, **options)


@pytest.mark.parametrize("text", ["word, ", "line\n", 'a ""b"" ', "é, "])
@pytest.mark.parametrize("skew", [0, 7])
def test_long_texts_in_quotes_are_read_by_rows(left: list[int], text: str, skew: int) -> None:
    """A few tiles are declined: none of their quotes shows that they begin in quotes."""
    page = f'"{text * (9 * SHAPE.find.tile // 2 // len(text.encode()))}"'
    records = [f"{i},{page if i % 9 == 4 else 'abc'},{i}.5,x\n" for i in range(90)]
    check("".join(records).encode(), header=False, schema=["int64", "string", "float64", "string"], skew=skew)
    assert left[0] <= left[1] // 8


@pytest.mark.parametrize("seed", seeds(8))
def test_long_records_of_short_fields(seed: int) -> None:
    """More fields of a record end in a tile than the search lists."""
    rng = random.Random(seed)
    kinds = (["string"] * 3 + ["int32"] * 5) * 5
    data = text_of(rng, kinds, [10, 20, 60, 300])
    check(data, header=False, schema=kinds, skew=rng.randrange(16), seed=seed, shape=rng.choice([SHAPE, LARGER_SHAPE]))


@pytest.mark.parametrize("seed", seeds(12))
def test_faults_and_characters_of_several_bytes(seed: int) -> None:
    rng = random.Random(seed)
    kinds = rng.choice([["int32", "string", "string"], ["string", "int64"], ["string", "string", "float64", "string"]])
    lines = text_of(rng, kinds, LENGTHS, quotes=rng.choice([0.0, 0.3])).split(b"\n")
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(lines))
        odd = [
            b"x,",
            b"\xff",
            "\u00e9\u4e2d\U0001f600".encode() * rng.randrange(1, 400),
            b",",
            b"\r",
            b"1" * 2000,
            b'"a',
            b"\xc3,",
        ]
        place = rng.randrange(len(lines[at]) + 1)
        lines[at] = lines[at][:place] + rng.choice(odd) + lines[at][place:]
    options = {"header": False, "schema": kinds, "on_error": "null", "short_records": "null", "long_records": "reject"}
    check(b"\n".join(lines), skew=rng.randrange(16), seed=seed, shape=rng.choice([SHAPE, LARGER_SHAPE]), **options)


@pytest.mark.parametrize("seed", seeds(10))
def test_null_texts_and_short_records(seed: int) -> None:
    rng = random.Random(seed)
    kinds = ["string", *rng.choices(["string", "int32"], k=3)]
    lines = []
    for line in text_of(rng, kinds, [0, 2, 60, 1500]).split(b"\n"):
        fields = [rng.choice([b"NA", b"N/A", b"-"]) if rng.random() < 0.2 else field for field in line.split(b",")]
        lines.append(b",".join(fields[: rng.randrange(1, 5)] if rng.random() < 0.1 else fields))
    options = {"null_values": ["NA", "N/A", "-"]} if seed % 3 else {}
    options |= {"short_records": rng.choice(["null", "reject"]), "on_error": "null", "header": False, "schema": kinds}
    check(b"\n".join(lines), skew=rng.randrange(16), seed=seed, shape=rng.choice([SHAPE, LARGER_SHAPE]), **options)


@pytest.mark.parametrize("seed", seeds(20))
def test_short_records_if_some_columns_are_wanted(seed: int) -> None:
    """Columns that are skipped before a part of a record do not make the record short."""
    rng = random.Random(seed)
    kinds = rng.choices(["string", "int32"], k=rng.randrange(2, 6))
    kinds.insert(rng.randrange(len(kinds)), "string")
    lines = []
    for _ in range(rng.randrange(1, 40)):
        fields = [field(rng, kind, [0, 2, 60, 1500, 2500]) for kind in kinds]
        lines.append(",".join(fields[: rng.randrange(1, len(kinds))] if rng.random() < 0.15 else fields))
    wanted = sorted(rng.sample(range(len(kinds)), rng.randrange(1, len(kinds))))
    options = {"short_records": "null", "on_error": "null", "header": False, "schema": kinds, "columns": wanted}
    check("\n".join(lines).encode(), skew=rng.randrange(16), seed=seed, shape=rng.choice([SHAPE, LARGER_SHAPE]), **options)


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("skew", [0, 7])
@pytest.mark.parametrize("shift", range(-70, 70, 9))
def test_fields_that_begin_and_end_near_edges_of_tiles(left: list[int], shift: int, skew: int) -> None:
    tile = SHAPE.find.tile
    for before in (2 * tile, 4 * tile):
        for after in (0, 1, 64, tile - 64, tile - 1, tile, 3 * tile):
            first = b"1," + b"x" * (before + shift - skew - 2)
            for last in (b"," + b"y" * after + b",2\n3,a,b,4\n", b",z," + b"5" * 3 + b"\n" + b"6,b,c,7\n" * 9):
                check(first + last, header=False, schema=["int64", "string", "string", "int64"], skew=skew)
    assert left[0] == 0


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("skew", [0, 7])
@pytest.mark.parametrize("quote", [b"", b'"'])
@pytest.mark.parametrize("far", [400, 1500, 2600])
def test_bytes_that_are_not_utf8_before_the_end_of_a_tile(far: int, quote: bytes, skew: int) -> None:
    """The next tile copies them."""
    edge = 3 * SHAPE.find.tile - skew
    for place in (1, 30, 63, 64, 65):
        text = b"1,ab\n2," + b"y" * (edge - far - 9) + b"\n3," + quote
        text += b"x" * (edge - place - len(text)) + b"\xff"
        for after in (100, 2 * SHAPE.find.tile):
            whole = text + b"z" * after + quote + b"\n4,b\n"
            check(whole, header=False, schema=["int64", "string"], on_error="null", skew=skew)


@pytest.mark.parametrize("skew", [0, 7])
@pytest.mark.parametrize("end", [b"\xe4\xb8", b"\xe4\xb8\xad"])
def test_texts_that_end_with_a_tile(end: bytes, skew: int) -> None:
    """The kernels that validate UTF-8 read no byte after the text."""
    size = 3 * SHAPE.find.tile - skew
    text = b"1,ab\n" * ((size - 20) // 5) + b"2,"
    text += b"x" * (size - len(text) - len(end)) + end
    check(text, header=False, schema=["int64", "string"], on_error="null", skew=skew)
