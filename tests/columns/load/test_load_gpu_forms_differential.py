"""Tests loading on a GPU that takes more than a conversion, under the fiber harness, against `read_csv` on the CPU. Covers mended
text, smaller types, row indexes and tables without columns.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.columns.convert.convert_kernels_cases import TEXTS, table
from tests.columns.faults.load_gpu_faults_cases import spoiled
from tests.columns.load.load_gpu_forms_cases import check
from tests.tiers import seeds

pytestmark = pytest.mark.fibers


def mangled(rng: random.Random, data: bytes, times: int) -> bytes:
    """The text with bytes that no UTF-8 has there."""
    text = bytearray(data)
    for _ in range(times):
        at = rng.randrange(len(text))
        if text[at] not in b',\n"':
            text[at : at + 1] = rng.choice(
                [b"\xff", b"\xe2\x82", b"\x80", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc3\xa9", b"\xe9\xff"]
            )
    return bytes(text)


@pytest.mark.parametrize("seed", seeds(12))
def test_text_is_mended(seed):
    rng = random.Random(seed)
    types = rng.choices(["string", "int64", "binary", "string", "large_string", "float64"], k=rng.choice([1, 3, 5]))
    data = mangled(rng, table(rng, types, rng.choice([1, 30, 80]), junk=0, quoted=0.3 * (seed % 2)), rng.choice([1, 10, 60]))
    options: dict[str, Any] = {"header": False, "encoding_errors": "replace", "on_error": rng.choice(["null", "reject", "raise"])}
    if rng.random() < 0.7:
        options["schema"] = types
    if rng.random() < 0.3:
        options["null_values"] = ["", "�", "x"]
        options["quoted_null"] = rng.random() < 0.5
    check(data, seed, **options)


@pytest.mark.covering(default=0, long=0)
@pytest.mark.parametrize("seed", range(4))
def test_long_text_is_mended(seed):
    long = ("x€y" * 900).encode()
    rows = [b"a,b"]
    for at in (0, 1, 2, 500, 1024, 2048, 4499):
        rows += [b"1," + long[:at] + wrong + long[at:] for wrong in (b"\xff", b"\xe2\x82", b"")]
        rows += [b'2,"' + long[:at] + b'""\xff"', b"3,short\x80"]
    data = b"\n".join(rows)
    found = check(data, seed, encoding_errors="replace")
    assert found is not None and found.report.replaced > 20
    check(data, seed, encoding_errors="replace", dtypes={"b": "string"}, null_values=["", "short�"], escape_char="\\")


def test_more_text_is_mended_than_faults_are_listed_at_first(monkeypatch):
    from headrace.columns.faults.gpu import fault_list

    monkeypatch.setattr(fault_list, "MAX_FAULTS", 8)
    data = b"a,b\n" + b"".join(b"%d,t\xff%d\n" % (number, number) for number in range(60))
    for on_error in ("raise", "null", "reject"):
        found = check(data, 3, encoding_errors="replace", on_error=on_error)
        assert found is not None and found.report.replaced == 60


NUMBERS: list[list[str]] = [
    ["0", "127", "-128"],
    ["0", "127", "128", "255"],
    ["-1", "128", "200"],
    ["5", "32768", "-0"],
    ["-1", "32768", "65535"],
    ["3", "2147483648", "4294967295"],
    ["-1", "2147483648"],
    ["0", "4294967296"],
    ["-9223372036854775808", "1"],
    ["1.5", "-2.25", "nan", "1e300"],
    ["1.5", "0.1"],
    ["1.5", "inf", "-inf", "nan"],
    ["1e39", "1"],
    ["text", "1"],
    ["2020-01-01", ""],
]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_types_are_shrunk(seed, on_error):
    rng = random.Random(f"{seed}{on_error}")
    kinds = rng.choices(NUMBERS, k=rng.choice([1, 4, 8]))
    rows = []
    for number in range(rng.choice([1, 40, 150])):
        few = number % 7 or rng.random() < 0.8  # seldom the one that decides the type
        rows.append(",".join(kind[0] if few else rng.choice([*kind, ""]) for kind in kinds))
    data = ("\n".join(rows) + "\n").encode()
    if seed % 3 == 1:
        data = spoiled(rng, data, 3)
    options = {"header": False, "shrink": True, "on_error": on_error, "skip_blank_lines": seed % 2 == 0}
    check(data, seed, **options)
    check(data, seed + 1, dtypes={0: "string"}, **options)


LIMITS = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-2147483648, 2147483647),
    "uint32": (0, 4294967295),
}


@pytest.mark.parametrize("beyond", [0, 1])
def test_the_smallest_type_holds_its_limits_and_nothing_beyond(beyond):
    lows = [low - beyond for low, _ in LIMITS.values()]
    highs = [high + beyond for _, high in LIMITS.values()]
    for row in (lows, highs, [0] * len(lows)):
        data = ",".join(map(str, row)) + "\n" + ",".join(map(str, highs if row is lows else lows)) + "\n"
        found = check(data.encode(), header=False, shrink=True)
        assert found is not None
        if row is lows and not beyond:
            assert [str(kind) for kind in found.schema.values()] == list(LIMITS)


def test_the_field_that_decides_a_type_is_far_from_the_begin():
    rows = [b"1,2.5,a"] * 900 + [b"x"] + [b"300,2.5,b"] + [b"1,0.1,c"] * 300
    found = check(b"a,b,c\n" + b"\n\n".join(rows), 5, shrink=True, on_error="reject")
    assert found is not None
    assert [str(column.type) for column in found.report.columns] == ["int16", "float64", "string"]
    assert [column.evidence and column.evidence.record for column in found.report.columns] == [902, 903, 1]


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_numbered(seed):
    rng = random.Random(seed)
    types = rng.sample(sorted(set(TEXTS) - {"null", "timestamp[s, Europe/Berlin]"}), 3)
    data = table(rng, types, rng.choice([3, 33, 90]), junk=0.05 * (seed % 2), quoted=0.2)
    if seed % 3 == 0:
        data = spoiled(rng, data, 4)
    options = {"header": False, "schema": types, "row_index_name": "n", "row_index_offset": seed - 2}
    for on_error in ("null", "reject"):
        check(data, seed, on_error=on_error, **options)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize(
    "options",
    [
        {"columns": []},
        {"columns": [], "row_index_name": "n"},
        {"columns": [], "quote_char": None},
        {"columns": [], "escape_char": "\\"},
        {"columns": ["extra_fields"], "long_records": "collect"},
        {"columns": [], "long_records": "collect"},
        {"columns": [], "infer_schema": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("on_error", ["null", "reject", "raise"])
def test_no_columns(options, on_error):
    for number, data in enumerate((b"a,b\n", b"a,b\n1,2\n" * 100, b'a,b\n1,2\n3\n4,5,6,7\n8,"9"x\n', b"a,b\n1,2\n\n3,4" * 50)):
        check(data, number, on_error=on_error, **options)


@pytest.mark.parametrize("seed", seeds(8))
def test_all_of_it_together(seed):
    rng = random.Random(seed)
    types = rng.choices(["string", "int64", "float64", "uint8", "date32"], k=4)
    data = spoiled(rng, mangled(rng, table(rng, types, 60, junk=0.02, quoted=0.2), 8), 2)
    options = {"shrink": True, "row_index_name": "n", "encoding_errors": "replace", "header": False}
    check(data, seed, on_error=rng.choice(["null", "reject"]), long_records=rng.choice([None, "collect", "truncate"]), **options)


@pytest.mark.parametrize(("sep", "decimal"), [("..", "."), (";.", "."), ("x,", ",")])
def test_a_decimal_mark_at_the_end_of_the_separator_is_no_part_of_a_number(sep, decimal):
    numbers = ["1", "12", "7.5", "1234", "0.25", "12345678901", "123456789012345678", "-3", "+40", "5e3", ""]
    fields = [number.replace(".", decimal) for number in numbers]
    rows = [
        sep.join([fields[row % len(fields)], fields[(row * 7 + 3) % len(fields)], fields[(row * 3 + 1) % len(fields)]])
        for row in range(60)
    ]
    data = ("\n".join(rows) + "\n").encode()
    found = check(data, 5, header=False, sep=sep, decimal=decimal, schema=["float64"] * 3)
    assert found is not None and found.report.faults == 0
