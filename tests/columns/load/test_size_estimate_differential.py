"""Tests the conversion that is launched before the rows are counted. The table is that of the CPU for any estimate, and the host
waits once if the estimate was right.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from headrace import _native
from headrace.columns.load.gpu import data_start, estimate, load, setup_cache
from headrace.columns.load.gpu.estimate import SizeEstimate, SizeHistory, covers, estimate_sizes
from headrace.columns.plan.native_dialect import native_dialect
from headrace.core.errors import MemoryLimitError
from headrace.core.identity_cache import IdentityCache
from headrace.structure.dialect import CSV, Dialect
from headrace.structure.gpu.dialect_tables import TOTALS, FindFlag
from headrace.testing import fibers
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import SHAPE, check
from tests.columns.load.size_estimate_cases import MISLEADING, PLAIN, text

pytestmark = pytest.mark.fibers

ROWS = 90
LINES = [f"{row},{'x' * (row % 7)},{row}.5,{'yz' * (row % 3)}" for row in range(ROWS)]
DATA = "\n".join(LINES).encode()
TYPES = ["int32", "string", "float64", "string"]
STRINGS = [sum(row % 7 for row in range(ROWS)), sum(2 * (row % 3) for row in range(ROWS))]


@pytest.fixture
def estimated(monkeypatch: pytest.MonkeyPatch):
    """Set the expected sizes, whatever the text, without spare room."""
    monkeypatch.setattr(estimate, "SPARE_ROWS", 0)
    monkeypatch.setattr(estimate, "SPARE_STRING_BYTES", 0)

    def tell(expected: SizeEstimate | None) -> None:
        monkeypatch.setattr(setup_cache, "estimate_sizes", lambda *_: expected)
        monkeypatch.setattr(setup_cache, "known_setups", IdentityCache())  # without the launches and sizes of an earlier text

    return tell


@pytest.mark.covering(default=1)
@pytest.mark.parametrize(
    ("rows", "strings", "waits"),
    [
        (ROWS, (0, 0), 1),
        (ROWS + 23, (0, 0), 1),
        (ROWS + 24, (0, 0), 2),  # more than is to be left
        (ROWS - 1, (0, 0), 2),
        (1, (0, 0), 2),
        (ROWS, (-1, 0), 2),
        (ROWS, (0, -1), 2),
        (ROWS, (60, 20), 1),
        (ROWS, (90, 0), 2),
        (ROWS, (-STRINGS[0], -STRINGS[1]), 2),
    ],
)
@pytest.mark.parametrize("inferred", [False, True])
def test_correct_and_wrong_estimates(estimated, rows, strings, waits, inferred):
    sizes = [size + more for size, more in zip(STRINGS, strings, strict=True)]
    options = {} if inferred else {"schema": TYPES}
    for seed in range(3):
        estimated(SizeEstimate(rows, sizes))
        assert check(DATA, header=False, seed=seed, skew=5 * seed, **options) == waits


def test_no_estimate(estimated):
    estimated(None)
    assert check(DATA, header=False, schema=TYPES) == 2


@pytest.mark.parametrize("kind", MISLEADING)
def test_first_records_that_mislead(kind):
    data = text(*MISLEADING[kind])
    faults = {"on_error": "null", "short_records": "null", "long_records": "reject"}
    check(data, header=False, schema=["int64", "string", "int64", "string"], **faults)
    check(data, header=False, **faults)


@pytest.mark.parametrize(("options", "odd"), [({"comment": "#"}, "#3,a"), ({"escape_char": "\\"}, "1,\\,,2,d")])
def test_bytes_that_masks_cannot_read_after_the_prefix(options, odd, monkeypatch):
    given = {"header": False, "schema": ["string"] * 4, **options}
    assert check(text(PLAIN, [odd, *PLAIN]), **given) <= 2  # the prefix has the byte; a tile may be declined
    assert check(text(PLAIN, [odd, *PLAIN]), **given) == 1  # the second read of a plan expects that
    monkeypatch.setattr(data_start, "first_fetch_bytes", lambda size: 64)
    # Twice more: for strings, which the first form's search was to measure, and for the tile that rows leave over.
    assert check(text(PLAIN, [odd, *PLAIN]), **given) == 4
    assert check(text(PLAIN, PLAIN), **given) == 1


def test_estimated_strings_exceed_32_bit_offsets(monkeypatch):
    for module, name in ((estimate, "_MAX_SMALL_OFFSET"), (load, "MAX_STRING_BYTES")):
        monkeypatch.setattr(module, name, 100)
    found_waits = check_values(text(PLAIN, PLAIN), ["int32", "string", "int32", "string"])
    assert found_waits == 2
    assert check_values(text(PLAIN, PLAIN), ["int32", "large_string", "int32", "large_string"]) == 1


def check_values(data: bytes, types: list[str]) -> int:
    """Compare values alone; how often the host waited."""
    from tests.columns.load.load_gpu_cases import read_on_fibers

    found, waits = read_on_fibers(data, header=False, schema=types)
    assert found is not None
    expected = [line.split(",") for line in data.decode().split("\n")]
    assert [str(value) for value in found["column_2"].to_pylist()] == [fields[1] for fields in expected]
    assert [str(value) for value in found["column_3"].to_pylist()] == [fields[2] for fields in expected]
    return waits


def test_estimated_buffers_exceed_the_memory_limit(monkeypatch):
    take, refused = FiberLauncher.allocate_group, []

    def allocate_group(self, zeroed, others=(), *, ones=0):
        if ones and len(refused) < 2:
            refused.append(1)
            raise MemoryLimitError("no")
        return take(self, zeroed, others, ones=ones)

    monkeypatch.setattr(FiberLauncher, "allocate_group", allocate_group)
    assert check(DATA, header=False, schema=TYPES) == 2
    assert len(refused) == 2


def test_estimated_buffers_are_large_for_the_text(monkeypatch):
    monkeypatch.setattr(estimate, "SMALL_BYTES", 0)
    monkeypatch.setattr(estimate, "MAX_TIMES_TEXT", 0)
    assert check(DATA, header=False, schema=TYPES) == 2


def test_columns_of_empty_fields_are_converted_ahead_of_the_counts(monkeypatch):
    """A column of 8 bytes a value has up to eight times the text, and bits of validity."""
    monkeypatch.setattr(estimate, "SMALL_BYTES", 0)
    rows = [("," * 29 + "7" if row % 9 == 0 else "," * 29) for row in range(400)]
    assert check("\n".join(rows).encode(), header=False, schema=["int64"] * 30) == 1


def test_string_sums_of_inferred_columns_are_allocated_with_the_search_or_later(monkeypatch):
    for little in (1 << 20, 0):
        monkeypatch.setattr(setup_cache, "known_setups", IdentityCache())
        monkeypatch.setattr(setup_cache, "SMALL_BYTES", little)
        for seed in range(3):
            assert check(DATA, header=False, seed=seed) == 1
        check(text(*MISLEADING["no numbers"]), header=False, on_error="null")  # and once more for another type


def test_the_same_table_without_speculation():
    rng = random.Random(5)
    for seed in range(4):
        rng.shuffle(LINES)
        data = "\n".join(LINES).encode()
        options = {"header": False, "schema": TYPES, "seed": seed}
        assert check(data, **options) == 1
        assert check(data, **options, shape=replace(SHAPE, speculative=False)) == 2


@pytest.mark.parametrize("read_by", [0, 1, 2])
@pytest.mark.parametrize("off", [None, 0, 1, 299, "not launched"])
def test_the_device_validates_the_estimate(read_by, off):
    totals = np.zeros(3, TOTALS)
    totals["bytes"] = 0 if off == "not launched" else 1000
    totals["flags"][:read_by] = FindFlag.REDO
    totals["records"] = [7, 8, 9]
    ranges = np.array([[7, 9]] + [[i, 2 * i] for i in range(299)], np.uint64)
    sizes = np.arange(299, dtype=np.uint64) + (np.arange(299, dtype=np.uint64) + 1) // 2
    if off == 0:
        ranges[0] = [10, 20]
    elif isinstance(off, int):
        sizes[off - 1] = 2 * (off - 1) + 1
    word = np.zeros(1, np.uint64)
    program = fibers.program("columns/convert/gpu/string_offsets.cu", {"HR_THREADS": 256})
    program.launch("validate_estimate", 1, 256, [totals.view(np.uint8), 2, ranges, sizes, 299, word])
    assert int(word[0]) == (7 + read_by if off is None and read_by < 2 else 2**64 - 1)


@pytest.mark.parametrize(
    ("dialect", "data", "expected"),
    [
        (CSV, b"a,bc\nd,ef\ng", (2, [5, 5], [[1, 1], [2, 2]])),
        (CSV, b'"a,""\n",bc\r\n\r\n1,2,3\n', (2, [11, 9], [[3, 1], [2, 1], [1]])),
        (CSV, b"no end", (0, [], [[], [], []])),
        (CSV, b"", (0, [], [])),
        (Dialect(sep=";;", lineterminator="|"), b"aa;;b|ccc;;d|", (2, [6, 7], [[2, 3], [1, 1]])),
        (Dialect(comment="#"), b"#c,d\n1,22\n", (1, [10], [[1], [2]])),
        (Dialect(sep="\t"), b"a\tb\tc\td\n", (1, [8], [[1], [1]])),
        (Dialect(skip_initial_space=True), b'a,  bc ,  "d"\n', (1, [14], [[1], [3], [1]])),
        (Dialect(strip=True), b'  a ,  "b c" ,   ,\n', (1, [19], [[1], [3], [0], [0]])),
        (Dialect(escape_char="\\"), b'\\N,"a\\"b\\\\",c\\,d\n', (1, [17], [[0], [4], [3]])),
    ],
)
@pytest.mark.parametrize("step", [1, 2, 3, 1000])
def test_measured_first_records(dialect, data, expected, step):
    records, lengths, fields = expected
    found = _native.sample_prefix(native_dialect(dialect), data, len(fields), step)
    assert found == (records, sum(lengths), sums(lengths), [sums(sizes) for sizes in fields])


def sums(sizes: list[int]) -> tuple[int, int]:
    return sum(sizes), sum(size * size for size in sizes)


def test_estimated_sizes():
    native = native_dialect(CSV)
    expected = SizeEstimate(203 + 512, [1000, 1000])  # no more than the text has
    assert estimate_sizes(native, b"1,22\n3,44\n5,", 1000, [0, 1]) == expected
    large = estimate_sizes(native, b"1,22\n3,44\n5,", 10_000_000, [1])
    assert large == SizeEstimate(2_031_250 + 512, [4_062_500 + 262_144])
    assert estimate_sizes(native, b"1,22", 1000, []) is None


def test_spare_rows_of_many_columns_are_few():
    """512 rows of 1,000 columns would have more bytes than five times a text of 1 MB."""
    native = native_dialect(CSV)
    for row_bytes, spare in ((16, 512), (2048, 512), (8192, 128), (1 << 21, 0)):
        found = estimate_sizes(native, b"1,22\n3,44\n5,", 1000, [], row_bytes)
        assert found == SizeEstimate(203 + spare, [])


def test_deviating_records_raise_the_estimate():
    native = native_dialect(CSV)
    texts = [b"".join(b"x" * size + b"\n" for size in sizes) for sizes in ([9] * 400, [4, 14] * 200)]
    alike, other = (estimate_sizes(native, text, 10**9, []) for text in texts)
    assert alike is not None and other is not None
    assert alike.rows == int(10**8 * (1 + 1 / 64)) + 512
    assert other.rows == pytest.approx(10**8 * (1 + 1 / 64 + 3 * 0.5 / 20), rel=0.01)


def test_the_sample_is_as_small_as_the_spare_allows():
    native = native_dialect(CSV)
    alike, other = b"x" * 9 + b"\n", b"".join(b"x" * size + b"\n" for size in [1, 97] * 21)  # 82 records in 4 KB
    behind = b"y" * 19 + b"\n"
    first, more = (estimate_sizes(native, (text * 4096)[:4096] + behind * 800, 10**9, []) for text in (alike, other))
    assert first is not None and more is not None
    assert first.rows == int(10**8 * (1 + 1 / 64)) + 512  # by the first 4 KB alone
    assert more.rows > 10**9 / 24  # by the following lines, too, which are shorter than the mean of 50 bytes


def test_the_sample_of_a_short_text_is_small():
    native = native_dialect(CSV)
    # Of 41 records in 4 KB, all as long, strings differ by more than an eighth.
    lines = [b"y" * size + b"," + b"9" * (98 - size) + b"\n" for size in [1, 97] * 21]
    beginning = (b"".join(lines) * 2)[:4096] + b"y,9\n" * 4000
    short, long = (estimate_sizes(native, beginning, size, [0]) for size in (1 << 20, 10**9))
    assert short is not None and long is not None
    assert short.rows < (1 << 20) // 90  # by the first 4 KB alone
    assert long.rows > 10**9 // 10  # by the following lines, too


def test_sizes_in_proportion_to_the_last_text():
    history = SizeHistory(row_bytes=8)
    assert history.predict(10**8) is None
    history.see(10**8, 5_000_000, [20_000_000])
    assert history.predict(10**8) is None  # no text confirms that sizes are steady
    history.see(2 * 10**8, 10_050_000, [40_500_000])
    found = history.predict(4 * 10**8)
    assert found is not None and covers(found.rows, 20_100_000) and 81_000_000 <= found.strings[0] <= 83_000_000
    history.see(10**8, 6_000_000, [20_000_000])  # more rows than predicted
    assert history.predict(10**8) is None
    history.see(10**8, 6_000_000, [1_000_000])  # far fewer bytes of strings
    assert history.predict(10**8) is None
    history.see(10**8, 6_000_000, [1_000_000])
    assert history.predict(10**8) is not None


def test_few_records_are_no_sample():
    native = native_dialect(CSV)
    beginning = (b"x" * 340 + b"\n") * 3
    found = estimate_sizes(native, beginning + (b"y" * 9 + b"\n") * 4000, 32 << 20, [])
    assert found is not None
    assert found.rows > (32 << 20) // 20  # by the following lines; the first 1 KB alone has three and gives a twentieth


def test_strings_estimated_as_the_whole_text_need_no_larger_sample():
    native = native_dialect(CSV)
    # Of 7 records in 1 KB, all as long, one has no string: expected is 6/7 of the text, and more than that may be missing.
    lines = [b"y" * size + b"," + b"9" * (144 - size) + b"\n" for size in [144, 144, 144, 0, 144, 144, 144]]
    size = 4 << 20
    found = estimate_sizes(native, b"".join(lines) + b"y,9\n" * 4000, size, [0])
    assert found == SizeEstimate(int(size / 146 * (1 + 1 / 64)) + 512, [size])  # by the first 1 KB alone
