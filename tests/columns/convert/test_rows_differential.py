"""Tests the conversion by rows under the fiber harness against `read_csv` on the CPU, at the edges of small tiles. Also tests
that plain tiles are read by the rows' kernel, and not by the one after it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from headrace.structure.gpu.launches import SearchTuning
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, check, shape_of
from tests.tiers import seeds

pytestmark = pytest.mark.fibers

TYPES = [
    "int8",
    "uint16",
    "int32",
    "int64",
    "float32",
    "float64",
    "date32",
    "timestamp[s]",
    "timestamp[ns]",
    "string",
    "large_string",
    "time32[s]",
    "time64[us]",
    "duration[ms]",
    "decimal128(12, 2)",
    "decimal128(38, 20)",
]
REALS = ["%.2f", "%.0f", "%.1f", "%.3f", "-%.2f"]
LENGTHS = [0, 1, 2, 3, 7, 8, 9, 15, 30, 33, 70]


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[int]]]:
    """For each of the rows' kernels, the number of tiles that it left to the next one, and the number of all tiles."""
    counts: dict[str, list[int]] = {"convert_rows": [0, 0], "measure_rows": [0, 0], "summarize_rows": [0, 0]}
    launch = FiberLauncher.launch

    def counted(self: FiberLauncher, entry, shape, args) -> None:
        launch(self, entry, shape, args)
        if entry.name in counts:
            marks = self.fetch(args[{"measure_rows": 5, "summarize_rows": 6, "convert_rows": 6}[entry.name]]).view(np.uint32)
            self.waits -= 1
            counts[entry.name][0] += int((marks != 0).sum())
            counts[entry.name][1] += len(marks)

    monkeypatch.setattr(FiberLauncher, "launch", counted)
    return counts


def number(rng: random.Random, type_: str) -> str:
    if type_ == "int8":
        return str(rng.randrange(-128, 128))
    if type_ == "uint16":
        return str(rng.randrange(1 << 16))
    if type_ == "int32":
        return str(rng.randrange(-(2**31), 2**31) if rng.random() < 0.1 else rng.randrange(10 ** rng.randrange(1, 9)))
    if type_ == "int64":
        return str(rng.randrange(10 ** rng.randrange(1, 16)))
    reals = [form for form in REALS if form != "%.3f"] if type_.startswith("decimal") else REALS
    return rng.choice(reals) % rng.uniform(0, 10 ** rng.randrange(1, 5))


def field(rng: random.Random, type_: str, nulls: float) -> str:
    if rng.random() < nulls:
        return ""
    day = f"{rng.randrange(1700, 2200):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
    if type_ == "date32":
        return day
    clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
    if type_.startswith("timestamp"):
        return f"{day}{rng.choice(' T')}{clock}"
    if type_.startswith("time"):
        return clock
    if type_.startswith("duration"):
        return rng.choice(["", f"{rng.randrange(99)} days "]) + clock
    if "string" in type_:
        return "".join(rng.choice("abc -x.") for _ in range(rng.choice(LENGTHS)))
    return number(rng, type_)


def quoted(rng: random.Random, text: str, type_: str, line_end: str) -> str:
    """The field in quotes, if strings with separators, line ends and quotes."""
    if "string" not in type_:
        return f'"{text}"' if text else text
    for _ in range(rng.choice([0, 0, 1, 3])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(['"', ",", line_end, '",', '""']) + text[at:]
    return '"' + text.replace('"', '""') + '"'


def text_of(rng: random.Random, types: list[str], line_end: str, quotes: float) -> str:
    nulls = 0.05 if len(types) > 1 else 0.0
    records = []
    for _ in range(rng.randrange(1, 300)):
        fields = [field(rng, type_, nulls) for type_ in types]
        parts = [quoted(rng, f, t, line_end) if rng.random() < quotes else f for f, t in zip(fields, types, strict=True)]
        records.append(",".join(parts) or '""')
    return line_end.join(records) + (line_end if rng.random() < 0.7 else "")


@pytest.mark.covering(default=2)
@pytest.mark.long_except("0-*", "1-*")
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("quotes", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_tables(seed, quotes, line_end):
    rng = random.Random(seed)
    types = [rng.choice(TYPES) for _ in range(rng.randrange(1, 8))]
    data = text_of(rng, types, line_end, quotes).encode()
    skew = rng.randrange(16)
    check(data, header=False, schema=types, skew=skew, seed=seed)
    check(data, header=False, skew=skew, seed=seed)
    check(data, header=False, schema=types, columns=[len(types) - 1], skew=skew, seed=seed)


@pytest.mark.covering(long=0)
@pytest.mark.long_except("1-0.3")
@pytest.mark.parametrize("quotes", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_words_of_bits_that_threads_share_unevenly(seed, quotes):
    rng = random.Random(seed)
    types = [rng.choice(TYPES) for _ in range(rng.randrange(1, 6))]
    data = "\n".join(text_of(rng, types, "\n", quotes).rstrip("\n") for _ in range(3)).encode()
    shape = shape_of(SearchTuning(threads=64, rows=4, blocks=1, scan_threads=32), threads=64, window=64, row_threads=96)
    check(data, header=False, schema=types, skew=rng.randrange(16), seed=seed, shape=shape)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_plain_tiles_are_read_by_rows(left, line_end):
    record = b'%d,"a, ""b"" %d",2020-01-01 00:00:%02d,x%s,%d.5'
    for row in (record, record.replace(b'"', b"").replace(b"a, b", b"a b")):
        data = line_end.join(row % (i, i, i % 60, b"y" * (i % 50), i) for i in range(400)) + line_end
        check(data, header=False, schema=["int32", "string", "timestamp[s]", "string", "float64"])
    converted, measured, tallied = left.values()
    # If no quotes or CR are in the first bytes, the search measures strings.
    assert (tallied[1] > 20) == (line_end == b"\n")
    for marked, tiles in (converted, [measured[i] + tallied[i] for i in (0, 1)]):
        assert tiles > 40 and marked == 0


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("blocks", [1, 3, 2048])
@pytest.mark.parametrize(
    "odd",
    ["1,2,3,4", "1,2", "1,,3", "\u00e9,2,3", '"1",2,3', '1,2,"', "1,2\r,3", "", "1e5,2,3", "1," + "2" * 2000 + ",3"],
)
def test_one_odd_record_among_plain_ones(left, monkeypatch, odd, blocks):
    monkeypatch.setattr("headrace.columns.load.gpu.launches.MARKED_BLOCKS", blocks)  # of which each has several tiles
    plain = [f"{i},{7 * i},{i * i}" for i in range(300)]
    data = "\n".join([*plain, odd, *plain, ""]).encode()
    options = {
        "header": False,
        "schema": ["string", "int64", "int64"],
        "on_error": "null",
        "short_records": "null",
        "long_records": "reject",
    }
    check(data, **options)
    marked, tiles = left["convert_rows"]
    assert (marked == tiles) == (odd == '1,2,"')  # quotes that never close mark every tile


@pytest.mark.long_except('"')
@pytest.mark.parametrize("quote", ["", '"'])
def test_more_records_than_their_fields_let_a_tile_have(left, quote):
    """There is no room for the sum of the strings of such a tile by 32 records, so they are not measured by rows."""
    plain = "".join(",".join([f"{quote}s{i}{quote}"] * 16) + "\n" for i in range(60))
    options = {"header": False, "on_error": "null", "short_records": "null", "schema": ["string"] * 16}
    check((plain + f"{quote}abcdefgh{quote}\n" * 1500 + plain).encode(), **options, shape=LARGER_SHAPE)
    assert 0 < left["summarize_rows"][0] < left["summarize_rows"][1]


def test_strings_of_all_lengths_and_rows_without_any(left):
    lines = ["x" * (i % 131) + "," + ("y" * 700 if i % 97 == 0 else "") for i in range(500)]
    check("\n".join(lines).encode(), header=False, schema=["string", "string"])
    assert left["summarize_rows"][0] < left["summarize_rows"][1] / 2


@pytest.mark.parametrize("seed", seeds(10))
def test_short_strings_whose_words_have_bytes_of_several_rows(left, seed):
    """Some words of the result have bytes of many rows, with empty ones between them, and begin or end 32 rows."""
    rng = random.Random(seed)
    sizes = rng.choices([[0], [0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 9], [1, 2], [3, 4, 5], [0, 6, 16], [1, 8, 30]], k=3)
    rows = [",".join("abcdefghijklmnopqrstuvwxyz01234"[: rng.choice(of)] for of in [[2], *sizes]) for _ in range(600)]
    schema = ["string", "large_string", "string", "string"]
    check("\n".join(rows).encode(), schema=schema, header=False, skew=rng.randrange(16), seed=seed)
    assert left["convert_rows"][0] == 0


@pytest.mark.parametrize("escape", [None, "\\"])
def test_strings_with_dropped_quotes_that_a_warp_copies(escape):
    quote = '""' if escape is None else escape + '"'
    lines = [f'{i},"{"x" * (i % 53)}{quote * (i % 3)}{"y" * 40}{quote}"' for i in range(300)]
    shape = shape_of(SearchTuning(threads=64, rows=4, blocks=1, scan_threads=32), threads=64, window=64, row_threads=96)
    options = {"escape_char": escape, "double_quote": escape is None}
    check("\n".join(lines).encode(), header=False, schema=["int64", "string"], shape=shape, **options)


@pytest.mark.parametrize("escape", [None, "\\"])
@pytest.mark.parametrize("seed", seeds(8))
def test_texts_of_all_lengths_with_dropped_quotes(seed, escape):
    """Lanes copy chunks of short and long texts, of empty ones, and of texts that drop nothing."""
    rng = random.Random(seed)
    quote = '""' if escape is None else escape + '"'
    pieces, lengths = ["x", "yz", quote, quote * 2], rng.choice([(0, 1, 9), (0, 4, 5, 6, 40), (60, 99), (0, 3, 300), (9, 2000)])
    lines = [
        ",".join('"' + "".join(rng.choices(pieces, (8, 4, 1, 1), k=rng.choice(lengths))) + '"' for _ in range(2)) + f",{i}"
        for i in range(6000 // max(lengths))
    ]
    schema, options = ["string", "string", "int64"], {"escape_char": escape, "double_quote": escape is None}
    data = "\n".join(lines).encode()
    check(data, header=False, schema=schema, shape=LARGER_SHAPE, seed=seed, skew=rng.randrange(16), **options)


@pytest.mark.parametrize("inside", ["ab,c\n", "abc,d\n\n", 'a""b,c\n', "x" * 9])
def test_tiles_inside_quotes_that_look_like_records(inside):
    plain = "".join(f'{i},"s{i}"\n' for i in range(200))
    data = (plain + '7,"' + inside * 700 + '"\n' + plain).encode()
    for skew in (0, 5):
        check(data, header=False, schema=["int64", "string"], skew=skew)
        check(data, header=False, schema=["string", "string"], skew=skew)


@pytest.mark.parametrize("odd", ['7,"a"b\n', '7,a"b\n', '7,"' + "z" * 3000, '7,""a""\n'])
def test_malformed_quotes_of_strings_that_are_measured_by_rows(odd):
    plain = "".join(f'{i},"s{i}"\n' for i in range(200))
    options = {"header": False, "on_error": "null", "schema": ["string", "string"]}
    check((plain + odd + plain).encode(), **options)
    check((plain + odd).encode(), **options)


@pytest.mark.parametrize("skew", range(16))
def test_tiles_that_begin_and_end_between_cr_and_lf(skew):
    for size in (6, 14, 30):
        data = b"".join(b"%0*d\r\n" % (size, i) for i in range(300))
        check(data, header=False, schema=["int64"], skew=skew)
        check(data, header=False, schema=["string"], skew=skew)


@pytest.mark.parametrize("seed", seeds(30))
def test_line_ends_of_all_kinds(seed):
    rng = random.Random(seed)
    ends = rng.choice(
        [[b"\r\n", b"\r"], [b"\n", b"\r\n", b"\r"], [b"\n", b"\n", b"\n", b"\r", b"\r\r\n"], [b"\n\r", b"\n", b"\r\n"]]
    )
    width = rng.randrange(1, 4)
    fields = [b"", b"1", b"22", b'"a\r"', b"x" * rng.randrange(40)]
    records = []
    for _ in range(rng.randrange(1, 400)):
        count = width if rng.random() < 0.97 else rng.randrange(1, 5)
        records.append(b",".join(rng.choice(fields) for _ in range(count)) + rng.choice(ends if rng.random() < 0.2 else ends[:1]))
    options = {"on_error": "null", "short_records": "null", "long_records": "reject", "skip_blank_lines": rng.random() < 0.7}
    check(b"".join(records), header=False, schema=["string"] * width, skew=rng.randrange(16), seed=seed, **options)


@pytest.mark.long_except('*-"')
@pytest.mark.parametrize("quote", [b"", b'"'])
@pytest.mark.parametrize("seed", range(3))
def test_long_strings_that_several_warps_copy(seed, quote):
    rng = random.Random(seed)
    records = [quote + b"y" * rng.randrange(8, 14) + quote + b"," + b"z" * rng.randrange(3) for _ in range(600)]
    for at in range(5, 600, 97):
        records[at] = quote + b"abc" * rng.randrange(300, 1000) + quote + b","
    check(b"\n".join(records) + b"\n", header=False, schema=["string", "string"], shape=LARGER_SHAPE, seed=seed)
    words = [quote + b"w" * rng.randrange(65, 100) + quote + b",b" for _ in range(300)]
    check(b"\n".join(words), header=False, schema=["string", "string"], shape=LARGER_SHAPE, seed=seed)


@pytest.mark.parametrize("types", [["int64"], None])
def test_a_column_of_single_digits(types):
    """A tile of 1,024 bytes has up to 512 records."""
    rng = random.Random(1)
    digits = [b"%d" % rng.randrange(10) for _ in range(3000)]
    options = {"schema": types} if types else {}
    check(b"\n".join(digits) + b"\n", header=False, skew=3, **options)
    digits[700::900] = [b"-12345678901"] * len(digits[700::900])
    check(b"\n\n".join(digits), header=False, skew=5, **options)


@pytest.mark.parametrize("rows", [1, 31, 32, 33])
def test_a_last_column_of_nulls(rows):
    """A lane reads two records, of which the second lies after the words of the bits that say which rows are null."""
    check("\n".join(["1.5,2,"] * rows).encode(), header=False)


SIGNED = [
    "-1",
    "-0",
    "-00",
    "-01",
    "--1",
    "-",
    "- 1",
    "-1-",
    "+1",
    "-9",
    "-99999999",
    "-100000000",
    "-128",
    "-129",
    "-2147483648",
]
SIGNED_REALS = ["-.5", "-5.", "-0.0", "-.", "-0.123456", "-123.4567", "-1234567", "-12345678", "-1e5", "-nan", "-1.5.2", "-00.5"]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(
    "types", [["int8", "int32", "int64"], ["int16", "uint32", "int64"], ["float32", "float64", "float64"], None]
)
def test_signs(types, quote):
    texts = SIGNED + (SIGNED_REALS if types is None or "float64" in types else [])
    rows = [[text, texts[-at - 1], texts[(7 * at) % len(texts)]] for at, text in enumerate(texts)]
    lines = [",".join(f"{quote}{text}{quote}" for text in row) for row in rows for _ in range(9)]
    check("\n".join(lines).encode(), header=False, schema=types, on_error="null")


@pytest.mark.parametrize("types", [["int64", "int8", "int32"], ["float64", "float32", "float64"]])
def test_numbers_with_signs_are_read_by_rows(left, types):
    rng = random.Random(3)
    data = "".join(f"{rng.randrange(-99, 100)},-{rng.randrange(100)},{rng.choice(['', '-7', '12345678'])}\n" for _ in range(900))
    check(data.encode(), header=False, schema=types)
    assert left["convert_rows"][0] == 0
