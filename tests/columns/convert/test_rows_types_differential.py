"""Tests times, durations and decimals of the fast conversion, under the fiber harness against `read_csv` on the CPU."""

from __future__ import annotations

import random

import pytest

from tests.columns.load.load_gpu_cases import LARGER_SHAPE, check

pytestmark = pytest.mark.fibers

TIMES = [
    "00:00:00",
    "23:59:59",
    "23:59",
    "24:00:00",
    "23:60:00",
    "12:00:60",
    "1:02:03",
    "01:02:03.5",
    "01:02:03.123456",
    "01:02:03.123456789",
    "01:02:03.",
    "01:02:03Z",
    "01:02:03+01:00",
    "-01:02:03",
    "010203",
    "01-02-03",
    "",
    "noon",
]
DURATIONS = [
    *TIMES,
    "1 day",
    "1 day, 2:30:00",
    "3 days 02:30:00",
    "99999 days 23:59:59.999",
    "100000 days 00:00:00",
    "106751991 days 00:00:00",
    "-1 day, 2:30:00",
    "P1DT2H",
    "2 days",
    "2 days 25:00:00",
]
DECIMALS = [
    "0",
    "-0",
    "1",
    "-1",
    "12.5",
    "-12.25",
    "+12.25",
    "007",
    "007.10",
    ".5",
    "-.5",
    "5.",
    ".",
    "-",
    "12345678",
    "1234567.8",
    "-1234567.8",
    "12345678.9",
    "123456789.01",
    "9999999999.99",
    "-9999999999.99",
    "10000000000",
    "1.005",
    "1.0050",
    "0.001",
    "12345678901234567890.12",
    "99999999999999999999999999999999999999",
    "1e3",
    "1.5e-1",
    "nan",
    "1.2.3",
    "1,5",
    "",
]
CASES = [
    (["time32[s]", "time64[us]", "time64[ns]", "time32[ms]"], TIMES),
    (["duration[s]", "duration[us]", "duration[ns]", "duration[ms]"], DURATIONS),
    (["decimal128(12, 2)", "decimal128(38, 20)", "decimal128(3, 0)", "decimal128(9, 9)"], DECIMALS),
]


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(("types", "texts"), CASES)
def test_every_form_in_every_type(types, texts, quote):
    fitting = [text for text in texts if quote or "," not in text]
    columns = [fitting[at:] + fitting[:at] for at in (0, 5, 7, 11)]
    lines = [",".join(quote + text + quote for text in row) for row in zip(*columns, strict=True) for _ in range(7)]
    for on_error in ("null", "reject"):
        check("\n".join(lines).encode(), header=False, schema=types, on_error=on_error, skew=len(quote))


@pytest.mark.parametrize("formats", [(), ("%y:%m:%d",), ("%d days %m:%H:%y",)])
@pytest.mark.parametrize("texts", [TIMES, DURATIONS])
def test_inferred_times_and_durations(texts, formats):
    """A format of dates takes texts that are times or durations otherwise."""
    usual = "3 days 02:30:00" if texts is DURATIONS else "02:30:00"
    for odd in texts:
        lines = [usual, "1 day, 2:30:00.5" if texts is DURATIONS else "12:30"] * 60
        lines.insert(70, odd if "," not in odd else f'"{odd}"')
        data = "\n".join(f'"{line}",{at}' if "," in line and line[0] != '"' else f"{line},{at}" for at, line in enumerate(lines))
        check(data.encode(), header=False, **({"date_format": list(formats)} if formats else {}))


@pytest.mark.parametrize("nulls", [0.0, 0.2])
@pytest.mark.parametrize("mark", ["", "NA"])
def test_tables_with_them_are_read_by_rows(left, nulls, mark):
    """One such column made the general conversion read the table."""
    rng = random.Random(f"{nulls}{mark}")
    types = ["int64", "time32[s]", "time64[us]", "duration[ms]", "decimal128(12, 2)"]

    def record(at: int) -> list[str]:
        clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        money = f"{rng.choice(['', '-'])}{rng.randrange(10 ** rng.randrange(1, 9))}.{rng.randrange(100):02}"
        return [str(at), clock, f"{clock}.{rng.randrange(10**6):06}", f"{rng.randrange(99)} days {clock}", money]

    rows = [[mark if rng.random() < nulls else text for text in record(at)] for at in range(900)]
    data = "".join(",".join(row) + "\n" for row in rows)
    check(data.encode(), header=False, schema=types, null_values=["", "NA"], shape=LARGER_SHAPE, skew=3)
    assert left
    assert all(marked == 0 for marked, _ in left)
