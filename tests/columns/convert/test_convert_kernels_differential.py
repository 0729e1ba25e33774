"""convert.cu under the fiber harness against `read_csv` on the CPU, to the bit: values, nulls, strings, faults, kinds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import headrace
from headrace.columns.column import Column
from headrace.columns.convert.gpu.layouts import FAULT_DEFERRED, NO_FIELD
from headrace.columns.convert.gpu.tuning import ConvertTuning
from headrace.columns.faults.rejects import FAULT_KINDS
from headrace.testing.convert_fibers import FORWARD, Converted, ThreadOrder, convert
from tests.columns.convert.convert_kernels_cases import TEXTS, table
from tests.columns.load.load_gpu_cases import SHAPE

pytestmark = pytest.mark.fibers

SHAPES = [
    SHAPE.convert("unquoted"),
    ConvertTuning(threads=32, tile=256, window=32, quotes=False),
    ConvertTuning(threads=64, tile=512, window=512, quotes=True),
    ConvertTuning(threads=64, tile=2048, window=96, quotes=True),
    SHAPE.convert("dfa"),
    ConvertTuning(threads=32, tile=512, window=64, dfa=True),
]
"""Unmarked tests take the first and the fifth alone, by their seeds: each other shape is another program to compile."""
ORDERS = [FORWARD, ThreadOrder("reverse", 0), ThreadOrder("random", 1)]
STRUCTURAL = {"quote", "unclosed_quote", "too_few_fields", "too_many_fields"}


def check(data: bytes, options: dict[str, Any], shape: ConvertTuning, skew: int, order: ThreadOrder) -> Converted:
    """Convert by the kernels and by the CPU; both must give the same."""
    options = {"on_error": "null", **options}
    found = convert(data, options=options, shape=shape, skew=skew, order=order)
    expected = headrace.read_csv(data, **options)
    same(found, expected, STRUCTURAL - ({"too_many_fields"} if options.get("long_records") == "truncate" else set()))
    return found


def same(found: Converted, expected: headrace.Table, rejected: set[str]) -> None:
    names = list(expected.columns)
    positions = sorted(found.columns)
    gone = {fault["record"] for fault in found.faults if fault["kind"] < 255 and FAULT_KINDS[fault["kind"]] in rejected}
    kept = [record for record in range(found.rows) if record not in gone]
    assert len(kept) == expected.report.rows
    # Another test covers the fields left to the host.
    deferred = {fault["record"] for fault in found.faults if fault["kind"] == FAULT_DEFERRED}
    for name, position in zip(names, positions, strict=True):
        sure = np.array([record not in deferred for record in kept], bool)
        same_column(found.columns[position], found.rows, np.array(kept, np.int64), sure, expected[name], name)
    faults = {
        (f["record"] + 1, f["at"] + found.begin, FAULT_KINDS[f["kind"]])
        for f in found.faults
        if f["kind"] < 255 and (f["column"] == NO_FIELD or f["record"] not in gone)
    }
    rejects = expected.rejects.to_pydict()
    listed = set(zip(rejects["record"], rejects["byte"], rejects["kind"], strict=True))
    faults, listed = ({fault for fault in told if fault[0] - 1 not in deferred} for told in (faults, listed))
    value = {fault for fault in faults if fault[2] not in STRUCTURAL}
    assert value == {fault for fault in listed if fault[2] not in STRUCTURAL}
    assert {fault[0] for fault in faults if fault[2] in STRUCTURAL} == {fault[0] for fault in listed if fault[2] in STRUCTURAL}


def same_column(made: dict[str, Any], rows: int, kept: np.ndarray, sure: np.ndarray, expected: Column, name: str) -> None:
    valid = np.unpackbits(made["validity"].view(np.uint8), bitorder="little")
    valid[rows:] = 0
    if expected.validity is None:
        wanted = np.ones(len(kept), np.uint8) if expected.null_count == 0 else np.zeros(len(kept), np.uint8)
    else:
        wanted = np.unpackbits(np.frombuffer(expected.validity, np.uint8), bitorder="little")[: len(kept)]
    assert np.array_equal(valid[kept][sure], wanted[sure]), (name, "validity")
    if expected.offsets is not None:
        offsets = made["offsets"].astype(np.int64)
        texts = bytes(made["values"])
        pieces = [texts[offsets[row] : offsets[row + 1]] if valid[row] else None for row in kept]
        values = [v.encode() if isinstance(v, str) else v for v in expected.to_pylist()]
        assert [v for v, told in zip(pieces, sure, strict=True) if told] == [
            v for v, told in zip(values, sure, strict=True) if told
        ]
        return
    if expected.type.name == "null":
        return
    if expected.type.bits == 1:
        bits = np.unpackbits(made["values"].view(np.uint8), bitorder="little")
        found = [bool(bit) if there else None for bit, there in zip(bits[kept], valid[kept], strict=True)]
        assert np.array(found)[sure].tolist() == np.array(expected.to_pylist())[sure].tolist()
        return
    width = expected.type.bits // 8
    own = made["values"][: rows * width].reshape(rows, width)[kept]
    values = np.frombuffer(expected.values, np.uint8)[: len(kept) * width].reshape(-1, width)
    assert np.array_equal(own[sure], values[sure]), name


@pytest.mark.covering(default=1)
@pytest.mark.long_except("*tile=1024*")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("type_", sorted(TEXTS))
def test_every_type(type_: str, shape: ConvertTuning) -> None:
    rng = random.Random(type_)
    for order in ORDERS:
        types = [type_] * rng.choice([1, 2, 3])
        data = table(rng, types, rng.choice([1, 31, 90]), quoted=0.3 if shape.quotes else 0)
        check(data, {"schema": types, "header": False}, shape, rng.randrange(16), order)


@pytest.mark.long_except("2", "5", "6", "10")
@pytest.mark.parametrize("seed", range(12))
def test_tables(seed: int) -> None:
    rng = random.Random(seed)
    shape, order = rng.choice(SHAPES), rng.choice(ORDERS)
    types = rng.choices(sorted(TEXTS), k=rng.choice([1, 4, 9, 16]))
    quoted = rng.choice([0.2, 1]) if shape.quotes else 0
    data = table(rng, types, rng.randrange(1, 120), quoted=quoted, line_end=rng.choice([b"\n", b"\r\n", b"\n\n", b"\r"]))
    check(data, {"schema": types, "header": False}, shape, rng.randrange(16), order)


@pytest.mark.long_except("*-2", "*-5", "*-6")
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"short_records": "null"},
        {"short_records": "null", "long_records": "truncate"},
        {"long_records": "truncate"},
        {"long_records": "widen", "short_records": "null"},
    ],
    ids=str,
)
def test_ragged_records(policy: dict[str, str], seed: int) -> None:
    rng = random.Random(seed)
    shape, order = rng.choice(SHAPES), rng.choice(ORDERS)
    types = rng.choices(["int32", "string", "bool", "float64"], k=rng.choice([1, 3, 6]))
    lines = table(rng, types, 80, quoted=0.1 if shape.quotes else 0).rstrip(b"\n").split(b"\n")
    for _ in range(rng.choice([1, 10])):
        at = rng.randrange(1, len(lines))
        lines[at] = rng.choice([lines[at] + b",7,8", lines[at] + b",", lines[at].rpartition(b",")[0] or b"1", b"5", b"," * 20])
    data = b"\n".join(lines) + b"\n"
    given = {"dtypes": dict(enumerate(types)), "infer_schema": False, "header": False, **policy}
    check(data, given, shape, rng.randrange(16), order)


@pytest.mark.long_except("2", "5")
@pytest.mark.parametrize("seed", range(6))
def test_columns_that_are_not_wanted(seed: int) -> None:
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    types = rng.choices(sorted(TEXTS), k=9)
    data = table(rng, types, 60, quoted=0.2 if shape.quotes else 0)
    check(
        data,
        {"schema": types, "header": False, "columns": sorted(rng.sample(range(9), 3))},
        shape,
        rng.randrange(16),
        FORWARD,
    )


@pytest.mark.long_except("*tile=1024*")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_many_columns_and_records_longer_than_tiles(shape: ConvertTuning) -> None:
    rng = random.Random(5)
    types = rng.choices(sorted(TEXTS), k=200)
    check(table(rng, types, 7, quoted=0.2 if shape.quotes else 0), {"schema": types, "header": False}, shape, 3, FORWARD)


@pytest.mark.long_except("65-*tile=1024*", "3000-*tile=1024*quotes=False*")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("size", [30, 63, 64, 65, 200, 3000])
def test_long_fields(size: int, shape: ConvertTuning) -> None:
    rng = random.Random(size)
    text = "".join(rng.choices("abcdé€😀", k=size)).encode()
    number = b"1." + b"2" * size
    if shape.quotes:
        text = b'"' + text.replace(b"a", b'""') + b'"'
    lines = [b"%d,%s,%s,%d" % (i, text, number, i) for i in range(12)]
    for cut in range(0, 64, 7 if size < 3000 else 21):
        data = b"x" * cut + b",,1,\n" + b"\n".join(lines)
        check(data, {"schema": ["string", "large_string", "float64", "int16"], "header": False}, shape, cut % 16, FORWARD)


OPTIONS = [
    {"null_values": ["NULL", "", "-"]},
    {"null_values": ["7", "0", "x"]},
    {"null_values": ["NULL"], "quoted_null": True},
    {"skip_blank_lines": False},
    {"skip_blank_lines": False, "lineterminator": "\n"},
    {"sep": ";", "decimal": ",", "thousands": "."},
    {"true_values": ["x", "1"], "false_values": ["0", "-"]},
    {"double_quote": False},
    {"quote_char": None},
    {"quote_char": "'"},
    {"date_format": "%d.%m.%Y"},
]


@pytest.mark.long_except("*-2")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", OPTIONS, ids=str)
def test_options(given: dict[str, Any], seed: int) -> None:
    rng = random.Random(seed)
    shape, order = rng.choice(SHAPES), rng.choice(ORDERS)
    types = rng.choices(["int32", "string", "bool", "float64", "date32", "decimal128(12, 2)", "timestamp[s]", "string"], k=6)
    data = table(rng, types, 60, quoted=0.2 if shape.quotes else 0, line_end=rng.choice([b"\n", b"\r\n", b"\n\n"]))
    if "sep" in given:
        data = data.replace(b",", b";").replace(b".", b",")
    if "date_format" in given:
        data = data.replace(b"2019-12-31", b"31.12.2019")
    if given.get("lineterminator"):
        data = data.replace(b"\r", b"")
    check(data, {"schema": types, "header": False, **given}, shape, rng.randrange(16), order)


@pytest.mark.long_except("1", "2", "3", "4", "6")
@pytest.mark.parametrize("seed", range(8))
def test_malformed_quotes(seed: int) -> None:
    """The automaton's steps read these texts: a load that was searched by masks is discarded if quotes are misplaced."""
    rng = random.Random(seed)
    shape = rng.choice([shape for shape in SHAPES if shape.dfa])
    types = ["string", "int32", "string"]
    data = bytearray(table(rng, types, 60, quoted=0.5))
    for _ in range(rng.choice([1, 2, 8])):
        data[rng.randrange(20, len(data))] = ord('"')
    check(bytes(data), {"schema": types, "header": False}, shape, rng.randrange(16), rng.choice(ORDERS))


@pytest.mark.long_except("2", "5", "6")
@pytest.mark.parametrize("seed", range(8))
def test_text_that_is_no_utf8(seed: int) -> None:
    rng = random.Random(seed)
    shape = rng.choice(SHAPES)
    types = ["string", "int32", "large_string"]
    data = bytearray(table(rng, types, 60, quoted=0.5 if shape.quotes else 0))
    for _ in range(8):
        data[rng.randrange(20, len(data))] = rng.choice([0xFF, 0xC3, 0xA9, 0xE2])
    check(bytes(data), {"schema": types, "header": False}, shape, rng.randrange(16), rng.choice(ORDERS))
