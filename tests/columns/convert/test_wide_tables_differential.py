"""Tests tables with many columns, or with one of short texts, under the fiber harness against `read_csv` on the CPU.

Tiles have a part of a record or a few records, and windows of fields begin within a record.
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from headrace.columns.load.gpu import setup_cache
from headrace.core.identity_cache import IdentityCache
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, SHAPE, check

pytestmark = pytest.mark.fibers

TYPES = ["int32", "float64", "boolean", "date32", "decimal128(9, 2)", "int8", "string", "float32", "timestamp[s]", "int64"]


def field(rng: random.Random, type_: str, odd: float) -> str:
    if rng.random() < odd:
        return rng.choice(["", "", "x", "1e3", "-0", "  7", '"12"', '""', "99999999999999999999"])
    match type_:
        case "letter":
            return rng.choice(["", "a"])
        case "letters":
            return "".join(rng.choice("abc") for _ in range(rng.randrange(12)))
        case "digit":
            return str(rng.randrange(10))
        case "int8" | "int32" | "int64":
            return str(rng.randrange(-99, 100))
        case "boolean":
            return rng.choice(["true", "false"])
        case "date32":
            return f"2024-0{rng.randrange(1, 10)}-17"
        case "timestamp[s]":
            return f"2024-0{rng.randrange(1, 10)}-17 12:00:0{rng.randrange(10)}"
        case "string":
            return rng.choice(["", "é", "abc", '"a,b"'])
        case _:
            return f"{rng.uniform(-99, 99):.2f}"


def text_of(rng: random.Random, types: list[str], rows: int, odd: float) -> bytes:
    return "".join(",".join(field(rng, type_, odd) for type_ in types) + "\n" for _ in range(rows)).encode()


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("odd", [0.0, 0.05, 0.9])
@pytest.mark.parametrize("columns", [33, 60, 150, pytest.param(400, marks=pytest.mark.long)])
def test_many_columns(columns, odd):
    rng = random.Random(f"{columns}{odd}")
    types = [rng.choice(TYPES) for _ in range(columns)]
    data = text_of(rng, types, max(3, 1500 // columns), odd)
    options = {
        "header": False,
        "schema": types,
        "shape": LARGER_SHAPE,
        "skew": rng.randrange(16),
        "on_error": rng.choice(["null", "reject"]),
    }
    check(data, **options)
    check(data, columns=sorted(rng.sample(range(columns), columns * 9 // 10)), **options)


@pytest.mark.parametrize("quoted", [False, True])
def test_many_columns_of_inferred_types(quoted):
    rng = random.Random(quoted)
    types = [rng.choice(TYPES) for _ in range(120)]
    data = text_of(rng, types, 20, 0.2)
    data = data if quoted else data.replace(b'"a,b"', b"ab").replace(b'"', b"")
    check(data, header=False, shape=LARGER_SHAPE)


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("type_", ["int64", "float32", "string", "mixed"])
def test_tiles_of_several_tiles_of_the_search(quoted, type_, monkeypatch):
    """Few long records of many columns: the general conversion reads three tiles of the search at once, and measures them."""
    spans: list[int] = []
    launch = FiberLauncher.launch

    def recorded(self, entry, shape, args):
        is_measured = entry.name == "measure_strings" and type_ == "string" and not quoted
        if is_measured or entry.name in ("convert_tiles", "convert_rows"):
            spans.append(shape.defines.get("HR_SPAN", 0))
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    rng = random.Random(f"{quoted}{type_}")
    types = ["int8", *(rng.choice(TYPES) if type_ == "mixed" else type_ for _ in range(90))]  # strings alone would be listed
    data = text_of(rng, types, 70, 0.02)
    data = data if quoted else data.replace(b'"a,b"', b"ab").replace(b'"', b"")
    for skew in (0, 7):
        check(data, header=False, schema=types, shape=LARGER_SHAPE, skew=skew, on_error="null")
    assert set(spans) == {3}


WORDS = ["", "a", "word", "é", "NA", "a longer text", "x" * 95, "y" * 96, "z" * 300, "1", "12.5"]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("columns", [70, 256, pytest.param(600, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["plain", "quoted", "nulls", "escaped", "inferred", "invalid"])
def test_many_columns_of_strings(columns, kind):
    """As many columns as a block has threads are read with a column per lane, fewer of them by 32 rows of a column."""
    rng = random.Random(f"{columns}{kind}")
    odd = {"quoted": ['"a,b"', '""', '"say ""x"""', '"two\nlines"'], "escaped": ["\\N", "a\\nb", "\\N\\N", "c\\td"]}.get(kind, [])
    options = {
        "quoted": {"quoted_null": True},
        "nulls": {"null_values": ["NA", "a longer text", ""], "columns": sorted(rng.sample(range(columns), columns - 3))},
        "escaped": {"escape_char": "\\", "escape_sequences": True, "null_values": ["\\N"]},
        "invalid": {"on_error": "reject"},
    }.get(kind, {})
    rows = 4 if columns > 70 else 40
    fields = [[rng.choice(odd if odd and rng.random() < 0.1 else WORDS) for _ in range(columns)] for _ in range(rows)]
    data = "\n".join(",".join(row) for row in fields).encode()
    if kind == "invalid":
        data = data.replace("é".encode(), b"\xe9", 3)
    schema = {} if kind == "inferred" else {"schema": ["string" if rng.random() < 0.97 else "int8" for _ in range(columns)]}
    for skew in (0, 11):
        check(data, header=False, shape=LARGER_SHAPE, skew=skew, **schema, **{"on_error": "null", **options})


def test_a_last_tile_of_few_records_is_converted_by_rows(monkeypatch):
    """Tiles of 4,096 bytes have 40 records of 50 columns, and the last one has 10. Alone it would need another launch."""
    names: list[str] = []
    launch = FiberLauncher.launch

    def recorded(self, entry, shape, args):
        names.append(entry.name)
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    rng = random.Random(50)
    data = text_of(rng, ["digit"] * 50, 90, 0.0)
    check(data, header=False, schema=["int32"] * 50, shape=LARGER_SHAPE)
    assert "convert_rows" in names and "convert_tiles" not in names


def test_two_lanes_of_a_column_of_strings():
    """Eight warps have a unit each of 70 columns: two lanes of a column have half of a tile's 40 rows."""
    rng = random.Random(8)
    data = text_of(rng, ["letter"] * 70, 100, 0.0)
    for skew in (0, 9):
        check(data, header=False, schema=["string"] * 70, shape=replace(LARGER_SHAPE, threads=256, window=4096), skew=skew)


@pytest.mark.parametrize("columns", [70, pytest.param(256, marks=pytest.mark.long)])
def test_strings_of_records_longer_than_a_tile(columns):
    """A tile of 12,288 bytes has no record's end, one or two. Lanes copy short strings, warps long ones."""
    rng = random.Random(columns)
    sizes = [0, 3, 7, 8, 9, 30, 95, 96, 400] if columns == 70 else [0, 3, 8, 9, 60, 95, 200]
    rows = [[chr(97 + i % 26) * rng.choice(sizes) for i in range(columns)] for _ in range(5)]
    rows[2][columns // 2] = "z" * 30_000
    data = "\n".join(",".join(row) for row in rows).encode()
    for skew in (0, 5, 11):
        check(data, header=False, schema=["string"] * columns, shape=LARGER_SHAPE, skew=skew)


@pytest.mark.parametrize("inferred", [False, True])
@pytest.mark.parametrize("lists", [False, True])
def test_a_quote_far_from_the_begin_of_many_columns_of_strings(inferred, lists, monkeypatch):
    """The search without quotes gives up, so no strings are measured. They are measured after the one with quotes is counted."""
    measured: list[tuple[int, bool]] = []
    launch = FiberLauncher.launch

    def recorded(self, entry, shape, args):
        launch(self, entry, shape, args)
        if entry.name == "measure_strings":
            measured.append((shape.defines["HR_QUOTES"], args[4] is None))

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    monkeypatch.setattr(setup_cache, "known_setups", IdentityCache())
    rng = random.Random(inferred)
    number = [] if lists else ["digit"]  # with a column of another type, fields are not listed
    rows = text_of(rng, ["letters"] * 70 + number, 200, 0.0).split(b"\n")
    rows[150] = b'"a,""b"' + rows[150][rows[150].index(b",") :]
    schema = {} if inferred else {"schema": ["string"] * 70 + ["int64"] * len(number)}
    check(b"\n".join(rows), header=False, shape=LARGER_SHAPE, **schema)
    assert measured == [(0, False), (1, True)][lists:]


@pytest.mark.parametrize("quoted", [0.0, 0.05])
@pytest.mark.parametrize("letters", [1, 3, 6])
def test_one_column_of_short_texts(letters, quoted):
    """Records of four bytes and more are read by rows, and tiles of shorter ones by the general conversion."""
    rng = random.Random(f"{letters}{quoted}")
    words = ["".join(rng.choice("abé") for _ in range(rng.randrange(letters + 1))) for _ in range(3000)]
    rows = [f'"{word},"' if rng.random() < quoted else word for word in words]
    for shape in (SHAPE, LARGER_SHAPE):
        check("\n".join(rows).encode(), header=False, schema=["string"], shape=shape)


def test_a_wide_table_with_short_and_long_records():
    rng = random.Random(7)
    types = ["int32"] * 70
    rows = text_of(rng, types, 60, 0.02).split(b"\n")
    rows[10] = rows[10][: len(rows[10]) // 2]
    rows[30] += b",1,2"
    for options in ({"on_error": "reject"}, {"short_records": "null", "on_error": "null"}):
        check(b"\n".join(rows), header=False, schema=types, shape=LARGER_SHAPE, **options)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("quoted", [False, True])
def test_columns_without_a_value_in_the_sample(share, quoted):
    rng = random.Random(f"{share}{quoted}")
    kinds = [["7"], ["1", "2.5"], ["2024-01-17"], ["true"], ["é", "words", "3"], ["12", "-1"], ["1e9"], ["99999999999999999999"]]
    columns = [rng.choice(kinds) for _ in range(20)]

    def row(number: int) -> list[str]:
        rare = [rng.choice(kind) if rng.random() < (share if number > 600 else 0) else "" for kind in columns]
        return [str(number), f"word {number}", *rare, f"{number}.5"]

    rows = [",".join(f'"{text}"' if quoted and text and rng.random() < 0.2 else text for text in row(i)) for i in range(900)]
    data = "\n".join(rows).encode()
    check(data, header=False, seed=1)
    check(data, header=False, columns=[0, 3, 4, 5, 6, 7], null_values=["7"], seed=2)
    check(data, header=False, columns=[2, 3, 22], skew=5, quoted_null=True)
