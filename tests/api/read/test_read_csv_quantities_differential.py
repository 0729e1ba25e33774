"""Tests decimals, times of day, durations, bytes and hexadecimal integers of `read_csv` against Python's own. Covers every lane
of the vector path and its remainder, quoted or not.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal
from decimal import Context as DecimalContext
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headrace import Context, Table, read_csv
from headrace.columns.types import parse_type
from headrace.testing.compare import raw_values
from headrace.testing.values import Misfit, Value, Words, parse
from tests.isas import EACH_ISA

QUOTING = ["bare", "quoted", "mixed"]
LANES = 8
ONE_COLUMN = {"header": True, "sep": ";", "skip_blank_lines": False, "quoted_null": True}
EXACT = DecimalContext(prec=120)


def read(data: bytes | memoryview, isa: str, **options: object) -> Table:
    table = read_csv(data, context=Context(isa=isa, threads=2), **options)  # type: ignore[arg-type]
    table.report.check()
    return table


def written(texts: Sequence[str], quoting: str) -> memoryview:
    """Return one column without a last line end. The digits after its last byte do not belong to it."""
    quoted = {"bare": lambda i: False, "quoted": lambda i: True, "mixed": lambda i: i % 3 == 1}[quoting]
    data = "\n".join(["head", *(f'"{text}"' if quoted(i) else text for i, text in enumerate(texts))]).encode()
    return memoryview(data + b"7777777777777777")[: len(data)]


@cache
def parsed(text: str, type_name: str) -> Value | Misfit:
    return None if text in ("", "null") else parse(text.encode(), parse_type(type_name), Words())


def check(texts: Sequence[str], type_name: str, isa: str, quoting: str = "bare") -> None:
    """Every text is a value or a fault, as Python has it."""
    table = read(written(texts, quoting), isa, schema={"head": type_name}, on_error="null", null_values="null", **ONE_COLUMN)
    found = [parsed(text, type_name) for text in texts]
    assert raw_values(table["head"]) == [None if isinstance(value, Misfit) else value for value in found]
    faults = [(i, value.value) for i, value in enumerate(found, 1) if isinstance(value, Misfit)]
    assert list(zip(table.rejects["record"], table.rejects["kind"], strict=True)) == faults


def in_every_lane(odd: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Each odd text at each place modulo 8 among usual ones, and all the odd ones side by side."""
    texts: list[str] = []
    for text in odd:
        for lane in range(LANES):
            group = [usual[i % len(usual)] for i in range(LANES)]
            group[lane] = text
            texts += group
    return texts + list(odd) * 2


DECIMALS = [
    f"decimal128({digits})"
    for digits in ("1", "1, 1", "5, 2", "9, 9", "16, 4", "18", "19, 3", "20, 18", "38", "38, 19", "38, 38")
]
ODD_DECIMALS = [
    *("", "null", "-", "+", ".", "-.", "+.", "0", "-0", "-0.0", "00", "007", "+1", "-.5", "5."),
    *("0.0000000000000000001", " 1", "1 "),
    *("1.2.3", "1..2", "--1", "1-", "1e2", "1E-2", "1e", "1e+", "-1.5e-1", "0e99999999999999999999", "1e99999999999999999999"),
    *("1e-99999999999999999999", "nan", "inf", "0x1", "1_0", "1,5", "٣", "1\0", "/", ":", "12345678:", "1234567/.5"),
    *("9" * n for n in range(1, 42)),
    *("-" + "9" * n for n in (15, 16, 17, 18, 19, 20, 37, 38, 39)),
    *("0." + "0" * n + "1" for n in range(0, 40, 3)),
    *("1" + "0" * n for n in range(40)),
    *("1234567890123456789"[:n] + "." + "9876543210987654321"[:m] for n in range(0, 19, 2) for m in range(0, 19, 3)),
    *("0" * 30 + "12.5", "12.5" + "0" * 30, "-" + "0" * 15 + ".5", "1" * 7 + "." + "1" * 8, "-" + "1" * 7 + "." + "1" * 8),
]  # fmt: skip


@pytest.mark.covering(default=1)
@pytest.mark.long_except("*-bare-*", "*-mixed-avx2")
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("type_name", DECIMALS)
def test_odd_decimals_in_every_lane(type_name: str, isa: str, quoting: str) -> None:
    for usual in (["0", "-0.1", "1"], ["123.25", "-7.5", "99999.99"]):
        texts = in_every_lane(ODD_DECIMALS, usual)
        check(texts, type_name, isa, quoting)
        check(texts[3:], type_name, isa, quoting)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("type_name", DECIMALS)
def test_random_decimals_as_python_s_decimal_has_them(type_name: str, isa: str) -> None:
    """Quantized by `decimal` itself: a value is kept where that loses nothing."""
    rng = random.Random(type_name)
    type_ = parse_type(type_name)
    precision, scale = type_.precision or 0, type_.scale or 0
    texts = []
    for _ in range(4001):
        digits = str(rng.randrange(10 ** rng.randint(1, rng.choice([8, 16, 19, 39]))))
        point = rng.randint(0, len(digits))
        text = f"{digits[:point]}.{digits[point:]}" if rng.random() < 0.8 else digits
        exponent = f"e{rng.randint(-12, 12)}" if rng.random() < 0.1 else ""
        texts.append(rng.choice(["", "-"]) + text + exponent)
    expected: list[int | None] = []
    for text in texts:
        value = Decimal(text)
        kept = value.quantize(Decimal(1).scaleb(-scale), ROUND_DOWN, EXACT)
        whole = int(kept.scaleb(scale, EXACT))
        expected.append(whole if kept == value and abs(whole) < 10**precision else None)
    column = read(written(texts, "mixed"), isa, schema={"head": type_name}, on_error="null", **ONE_COLUMN)["head"]
    assert raw_values(column) == expected
    assert column.to_pylist() == [None if value is None else Decimal(value).scaleb(-scale, EXACT) for value in expected]
    assert pa.array(column).to_pylist() == column.to_pylist()


TIMES = ["time32[s]", "time32[ms]", "time64[us]", "time64[ns]"]
DURATIONS = [f"duration[{unit}]" for unit in ("s", "ms", "us", "ns")]
ODD_TIMES = [
    *("", "null", "12", "12:", "1:30", "12:3", "12:30", "24:00", "23:59", "12:30:", "12:30:5"),
    *("12:30:05", "12:30:60", "12:60:00"),
    *("24:00:00", "00:00:00", "-12:30:05", "+12:30:05", "12:30:05Z", " 12:30:05", "12:30:05 "),
    *("12-30-05", "12:30:0/", "12:30:0:"),
    *("1/:30:05", "::30:05", "12:30.05", "1x:30:05", "१२:30:05", "12:30:05\0", "T12:30:05", "12:30:05PM", "123:0:05"),
    *("12:30:05." + "123456789123"[:n] for n in range(12)),
    *("12:30:05." + "000000000000"[:n] for n in range(12)),
]  # fmt: skip
ODD_DURATIONS = [
    *ODD_TIMES,
    *("P", "-P", "PT", "P1", "P1D", "-P1D", "+P1D", "P1W", "P1W2DT3H4M5S", "P1DT", "PT1D", "P1H", "PT1H", "PT1M", "P1M", "P1Y"),
    *("P0D", "-PT0S", "P1D2W", "P1D1D", "PT1S1M", "PT1H1S", "PT1.5H", "PT.5S", "PT1.S", "PT1,5S"),
    *("P-1D", "p1d", "pt1s", "P1D ", "PP1D"),
    *("PT1." + "123456789123"[:n] + "S" for n in range(12)),
    *("1 day", "1 days", "-1 day", "5 days", "1 day,", "1 day, ", "1 day, 2:03:04", "1 day 2:03:04"),
    *("1 days +02:03:04", "1  day"),
    *("-1 days +23:59:59", "-1 day, 23:59:59.5", "-1 days -0:00:00.5", "1 days -0:00:00.000000001"),
    *("1 day,2:03:04", "1day", "1 d"),
    *("1 Day", "1 dayz", "26:00:00", "-26:00:00.25", "1:2:3", "1:02:3", "999999999:59:59", "5", "-5", "1.5", "-", "1 day, 2:03"),
    *("PT9223372036854775807S", "PT9223372036854775808S", "-PT9223372036854775808S", "-PT9223372036854775809S"),
    *("PT9223372036854.775807S", "-PT9223372036854.775808S", "-PT9223372036854.775809S", "-PT9223372036.854775808S"),
    *("PT18446744073709551616S", "P99999999999999999999999W", "106751991167301 days -08:29:53"),
    *("-106751991167301 days +08:29:52"),
    *("99999999999999999999 days", "-99999999999999999999:00:00", "P106751D", "P106752D"),
]  # fmt: skip


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("type_name", TIMES + DURATIONS)
def test_odd_times_and_durations_in_every_lane(type_name: str, isa: str, quoting: str) -> None:
    texts = in_every_lane(ODD_TIMES if type_name in TIMES else ODD_DURATIONS, ["23:59:58", "00:00:00", "09:05:30"])
    check(texts, type_name, isa, quoting)
    check(texts[3:], type_name, isa, quoting)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("type_name", TIMES + DURATIONS)
def test_every_second_of_a_day_and_what_is_none(type_name: str, isa: str) -> None:
    day = [f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" for second in range(86400)]
    table = read(written(day, "bare"), isa, schema=[type_name])
    units = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[parse_type(type_name).unit or ""]
    assert raw_values(table["head"]) == [second * units for second in range(86400)]
    numbers = (0, 5, 9, 19, 23, 24, 29, 59, 60, 61, 99)
    check([f"{h:02}:{m:02}:{s:02}" for h in numbers for m in numbers for s in numbers], type_name, isa, "mixed")


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("written_by", ["python", "pandas", "pandas iso"])
def test_durations_as_others_write_them(written_by: str, isa: str) -> None:
    """Inferred, if every text has its days, and converted back to the original values."""
    rng = random.Random(written_by)
    lengths = [datetime.timedelta(microseconds=rng.randint(-9 * 10**15, 9 * 10**15)) for _ in range(999)]
    write = {"python": str, "pandas": lambda d: str(pd.Timedelta(d)), "pandas iso": lambda d: pd.Timedelta(d).isoformat()}[
        written_by
    ]
    if written_by == "pandas iso":
        lengths = [abs(length) for length in lengths]  # of others pandas writes P-1D, a sign inside
    data = "\n".join(["head", *(f'"{write(length)}"' for length in lengths)]).encode()
    column = read(data, isa)["head"]
    assert str(column.type) == "duration[us]" or written_by != "python"
    assert read(data, isa, schema=["duration[ns]"])["head"].to_numpy().tolist() == [
        length // datetime.timedelta(microseconds=1) * 1000 for length in lengths
    ]


@pytest.mark.parametrize("isa", EACH_ISA)
def test_times_as_python_writes_them(isa: str) -> None:
    rng = random.Random(0)
    times = [
        datetime.time(rng.randrange(24), rng.randrange(60), rng.randrange(60), rng.choice([0, rng.randrange(10**6)]))
        for _ in range(999)
    ]
    column = read("\n".join(["head", *map(str, times)]).encode(), isa)["head"]
    assert str(column.type) == "time64[us]" and column.to_pylist() == times
    assert pc.equal(pa.array(column), pa.array(times)).to_pylist() == [True] * len(times)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("quoting", QUOTING)
@pytest.mark.parametrize("type_name", [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)])
def test_hexadecimal_integers_at_every_border(type_name: str, isa: str, quoting: str) -> None:
    values = sorted(
        {2**bits + near for bits in range(0, 68, 4) for near in (-1, 0, 1)} | {2**63, 2**31, 2**15, 2**7, 2**63 - 1, 127}
    )
    odd = [form % value for value in values for form in ("0x%x", "0X%X", "-0x%x", "+0x%x", "0x000000000000000000000%x")]
    odd += ["0x", "0X", "x1", "0xg", "0x1g", "0x 1", "0x1 ", "0x-1", "00x1", "0b1", "0o7", "1x0", "0x@", "0x`", "0x/", "0x:"]
    check(in_every_lane(odd, ["0", "7", "0x1"]), type_name, isa, quoting)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("type_name", ["binary", "large_binary"])
def test_bytes_come_back_as_they_stand(type_name: str, threads: int, isa: str) -> None:
    """Any byte but those of structure, and those too within quotes."""
    rng = random.Random(type_name)
    plain = bytes(b for b in range(256) if b not in b',"\r\n')
    cells = [bytes(rng.choices(plain, k=rng.randrange(90))) for _ in range(700)]
    cells += [bytes(rng.choices(range(256), k=rng.randrange(90))) for _ in range(700)]
    rows = [
        b'%d,"%s"' % (i, cell.replace(b'"', b'""')) if i >= 700 or i % 5 == 0 else b"%d,%s" % (i, cell)
        for i, cell in enumerate(cells)
    ]
    data = b"n,b\n" + b"\n".join(rows) + b"\n9,NA\n"
    for chunk in (1, 100, 1000, 1 << 20):
        column = read_csv(
            data, dtypes={"b": type_name}, null_values="NA", threads=threads, chunk_bytes=chunk, context=Context(isa=isa)
        )["b"]
        assert str(column.type) == type_name and column.to_pylist() == [*cells, None]
        assert pa.array(column).to_pylist() == [*cells, None]
    assert column[700:].to_numpy().tolist() == [*cells[700:], None]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_nulls_and_nothing_else(on_error: str, isa: str) -> None:
    data = b"a,b\n" + b"".join(b"%d,%s\n" % (i, b"x" if i % 50 == 7 else b"") for i in range(1000))
    for chunk in (1, 77, 1 << 20):
        table = read(data, isa, dtypes={"b": "null"}, on_error=on_error, chunk_bytes=chunk)
        rows = 1000 if on_error == "null" else 980
        assert table["b"].null_count == len(table["b"]) == rows and table["b"].validity is None
        assert table["b"][3:9].to_pylist() == [None] * 6 and table["b"][3:9].null_count == 6
        assert table.rejects["kind"].to_pylist() == ["type"] * 20
        assert pa.table(table).column("b").null_count == rows
        assert table["b"].to_numpy().tolist() == [None] * rows


def test_rows_that_go_take_their_decimals_and_bytes_with_them() -> None:
    data = b"n,d,b,t\n" + b"".join(b"%d,%d.5,%s,12:30:%02d\n" % (i, i, b"x" * (i % 7), i % 60) for i in range(500))
    data = data.replace(b"\n7,", b"\nseven,").replace(b"\n499,", b"\n?,").replace(b"\n0,0.5", b"\n0,0.555")
    types = {"n": "int16", "d": "decimal128(6, 2)", "b": "binary", "t": "time32[s]"}
    kept = [i for i in range(500) if i not in (0, 7, 499)]
    table = read_csv(data, dtypes=types, on_error="reject")
    assert table["d"].to_pylist() == [Decimal(i) + Decimal("0.5") for i in kept]
    assert table["b"].to_pylist() == [None if i % 7 == 0 else b"x" * (i % 7) for i in kept]
    assert table["t"].to_pylist() == [datetime.time(12, 30, i % 60) for i in kept]
    assert np.array_equal(np.asarray(table["n"]), kept)
