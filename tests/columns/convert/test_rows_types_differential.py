"""Tests types and forms of values of the fast conversion, under the fiber harness against `read_csv` on the CPU."""

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


def dates(rng: random.Random) -> list[str]:
    day, month, year = f"{rng.randrange(1, 29):02}", f"{rng.randrange(1, 13):02}", str(rng.randrange(1900, 2100))
    clock = f"{rng.randrange(1, 13):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
    names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    american = f"{month}/{day}/{year} {clock} {rng.choice(['AM', 'pm'])}"
    return [american, f"{day}.{month}.{year}", f"{day}-{names[int(month) - 1]}-{year}", f"{year}-{month}-{day}"]


FORMATS = ["%m/%d/%Y %I:%M:%S %p", "%d.%m.%Y", "%d-%b-%Y"]
STRANGE = ["", "02/30/2020 01:00:00 AM", "31.02.2020", "1.2.2020", "2020-01-01", "NA", "7", "01.01.2020 10:00", "13:00"]


@pytest.mark.parametrize("form", [0, 1, 2])
@pytest.mark.parametrize("share", [0.0, 0.03, 0.5])
@pytest.mark.parametrize("typed", [False, True])
def test_dates_of_formats(left, form, share, typed):
    rng = random.Random(f"{form}{share}")
    rows = [[rng.choice(STRANGE) if rng.random() < share else dates(rng)[form], dates(rng)[3], str(at)] for at in range(600)]
    data = "".join(",".join(row) + "\n" for row in rows).encode()
    types = {"schema": ["timestamp[us]", "string", "int64"]} if typed else {}
    check(data, header=False, date_format=FORMATS[form], on_error="null", skew=7, shape=LARGER_SHAPE, **types)
    check(data, header=False, date_format=[FORMATS[form], "%Y-%m-%d"], on_error="reject", **types)
    if share == 0.0:
        assert left
        assert all(marked == 0 for marked, _ in left)


@pytest.mark.parametrize("thousands", [None, "."])
@pytest.mark.parametrize("quote", ["", '"'])
def test_numbers_with_other_marks(left, thousands, quote):
    rng = random.Random(quote)
    numbers = ["1,5", "-1,25", "0,123456789", "12345678,9", "7", "-7", "1,5e3", "12345,678901234567", ",5", "5,"]
    numbers += ["1.234", "1.234.567,8", "-9.876.543"] if thousands else []
    odd = ["1.5", "1,2,3", "1.23", "x", "1.2345"]
    types = ["float64", "float32", "decimal128(12, 2)", "int64"]
    for share in (0.0, 0.05):
        texts = [[rng.choice(odd) if rng.random() < share else rng.choice(numbers) for _ in types[:3]] for _ in range(500)]
        rows = [[*row[:2], row[2] if row[2] in ("7", "-7", "1,5") else "2,50", str(at)] for at, row in enumerate(texts)]
        data = "".join(";".join(quote + text + quote for text in row) + "\n" for row in rows).encode()
        options = {"header": False, "sep": ";", "decimal": ",", "thousands": thousands, "on_error": "null"}
        left.clear()
        check(data, **options, schema=types, shape=LARGER_SHAPE, skew=5)
        assert left
        assert share or all(marked == 0 for marked, _ in left)
        check(data, **options)


@pytest.mark.parametrize("word", ["-999", "0", "1.5", "99999999999", "2020-01-01", "-9"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("typed", [False, True])
def test_words_that_look_like_values(left, word, quote, typed):
    rng = random.Random(word)
    types = ["int64", "int32", "float64", "date32"]
    usual = [["-999", "12", "-9", "123456789012"], ["0", "7", "-999", "-9"], ["1.5", "-2.25", "1e3", "-999"]]
    columns = [[rng.choice(texts) for _ in range(600)] for texts in (*usual, ["2020-01-01", "1999-12-31"])]
    rows = [[quote + (word if rng.random() < 0.3 else text) + quote for text in row] for row in zip(*columns, strict=True)]
    data = "".join(",".join(row) + "\n" for row in rows).encode()
    options = {"header": False, "null_values": [word], "on_error": "null"} | ({"schema": types} if typed else {})
    check(data, **options, shape=LARGER_SHAPE, skew=11)
    check(data, **options, quoted_null=True)
    if typed and not quote and word != "2020-01-01":
        assert left
    check(data, header=False, true_values=["yes", word], false_values=["no"], on_error="null")


ZONED = [
    "2024-01-31 12:00:00",
    "2024-03-31 02:30",
    "2024-10-27T02:30:00",
    "2024-07-01",
    "1890-01-01 00:00",
    "2024-05-05T10:00:00.25+02:00",
    "2024-05-05 10:00:00Z",
    "1950-06-01 23:59:59.999999",
    "2450-07-01 12:00",
    "",
    "noon",
]


@pytest.mark.long_except("*-types0")
@pytest.mark.parametrize("types", [["Europe/Berlin", "UTC"], ["America/New_York", "+02:00"]])
@pytest.mark.parametrize("options", [{}, {"date_format": "%d.%m.%Y %H:%M"}, {"comment": "#"}], ids=str)
def test_local_times_of_zones(left, options, types):
    """Skipped and repeated times are faults."""
    rng = random.Random(str(options))
    texts = [*ZONED, "31.03.2024 02:30", "01.02.2024 03:30"] if "date_format" in options else ZONED
    data = "".join(f"{rng.choice(texts)},{rng.choice(texts)}\n" for _ in range(400))
    schema = [f"timestamp[us, {types[0]}]", f"timestamp[ns, {types[1]}]"]
    check(data.encode(), header=False, schema=schema, on_error="null", **options, shape=LARGER_SHAPE)
    assert "comment" in options or left[-1][0] < left[-1][1]


@pytest.mark.parametrize("odd", ["", "0xFFFFFFFFFFFFFFFF", "12", "-0x1", "0xG", "x"])
def test_inferred_hexadecimal_numbers(left, odd):
    """A decimal number, a sign or another text among them changes the type of the column. Others stay as fast."""
    lines = [f"0x{i * 7919:x},0X{i:016X},{i}" for i in range(2000)]
    lines[1900] = f"{odd},0x1,5"
    check("\n".join(lines).encode(), header=False, shape=LARGER_SHAPE)
    assert left[0][0] < left[0][1] / 2
