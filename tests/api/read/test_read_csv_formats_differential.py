"""Number marks, date formats and time zones through `read_csv` against the plain reference and Python's own."""

from __future__ import annotations

import datetime
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import headrace
from headrace import Context, Dialect, ParseError, _native
from headrace.testing.compare import assert_same_error, assert_same_table, raw_values
from headrace.testing.forms import Forms, moment_of
from headrace.testing.reference import ReferenceOptions, read
from headrace.testing.values import Words
from tests.examples import examples

ISAS = _native.isas()
WAYS = [(isa, chunk, threads) for isa in ISAS for chunk, threads in ((1, 2), (64, 1), (65, 4), (4096, 1))]
SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
EPOCH = datetime.datetime(1970, 1, 1)

DAYFIRST = tuple(f"%d{mark}%m{mark}%Y{time}" for mark in "/-." for time in ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f"))
FORMATS = [
    "%d.%m.%Y",
    "%m/%d/%y",
    "%Y%m%d",
    "%d%m%Y",
    "%Y%j",
    "%d %b %Y",
    "%B %e, %Y",
    "%Y-%m-%d",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S.%f",
    "%m/%d/%Y %I:%M:%S %p",
    "%Y-%m-%dT%H:%M:%S%z",
    "%F %T %Z",
    "%s",
    "%s.%f",
    "%Y%m%d%H%M%S",
    "Tag %d, %m %Y %%",
]
MARKS = [(b".", None), (b",", None), (b",", b"."), (b".", b","), (b",", b" "), (b".", b"'"), (b".", b"_")]
NUMBERS = [
    "0", "-1", "12", "1234", "1,234", "1.234", "1,23", "12,34", "1234,567", "1,234,567", "1.234.567", "1,234.5", "1.234,5",
    "-12.345,678", "1.5", "1,5", ",5", ".5", "5,", "5.", "1 234", "1'234'567,25", "1_000", "1__000", "_100", "100_", "1e5",
    "1,5e3", "1.5E-3", "1.234e2", "1,234e2", "nan", "-inf", "0,123", "007", "00,5", "+1,5", "1,234,56", "1,2345", "-,5", "-",
    ".", ",", "9.223.372.036.854.775.807", "9,223,372,036,854,775,808", "18.446.744.073.709.551.616", "128", "-1.29", "1,,000",
    "1.2.3", "1,2,3", "123.456.789.012.345.678.901.234,5", "0." + "1" * 60, "1," + "0" * 70 + "1", "1" + ",000" * 30, "1,000-",
    "1,000,", "--1", "1-000",
]  # fmt: skip
TIMES = [
    "31.01.2024", "1.2.2024", "29.02.2023", "29.2.2024", "01/31/24", "1/2/69", "12/31/68", "20240131", "20230229", "31012024",
    "2024366", "2023366", "2023001", "2023000", "3 Jan 2024", "03 jAN 2024", "3 January 2024", "January  3, 2024",
    "MAY 31, 2024", "May 3, 2024", "Mai 3, 2024", "2024-01-31", "31.01.2024 23:59", "1.1.2024 1:2", "31.01.2024 24:00",
    "31.01.2024 23:59:58.123", "31.01.2024 23:59:58.1234567", "31.01.2024 23:59:58.1234567890", "31.01.2024 23:59:58",
    "31.01.2024 23:59:58.", "01/31/2024 12:00:00 AM", "1/2/2024 1:02:03 pm", "1/2/2024 13:02:03 pm", "1/2/2024 0:02:03 am",
    "2024-01-31T00:00:00+02:00", "2024-01-31T00:00:00-0530", "2024-01-31T00:00:00Z", "2024-01-31T00:00:00+05",
    "2024-01-31T00:00:00+05:6", "2024-01-31 00:00:00", "2024-01-31 00:00:00 utc", "2024-01-31 00:00:00 GMT", "0", "1700000000",
    "-1", "-0.5", "1700000000.000000001", "-1700000000.25", "20240131235958", "20240131235960", "Tag 31, 1 2024 %",
    "Tag 31,1 2024 %", "31/01/2024", "31-1-2024 1:02", "1/1/0000", "0.0.2024", "31.01.2024 ", " 31.01.2024", "31.01.02024",
    "99999999999999999999", "NaN", "text",
]  # fmt: skip
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "+05:30", "-03:00"]


def read_csv(data: bytes, isa: str, chunk: int | None = None, threads: int = 2, **options: Any) -> headrace.Table:
    return headrace.read_csv(data, context=Context(isa=isa, threads=threads), chunk_bytes=chunk, **options)


def check(data: bytes, options: ReferenceOptions, ways: list[tuple[str, int, int]] = WAYS, **own: Any) -> None:
    """`own` are the options of `read_csv` that correspond to `options.forms`."""
    expected = read(data, options)
    dialect = options.dialect
    own |= {"sep": dialect.sep, "header": options.header, "dtypes": options.types, "on_error": options.on_error}
    own |= {"decimal": options.forms.decimal, "thousands": options.forms.thousands}
    own = {"null_values": options.words.null} | own
    for way in ways:
        if options.on_error == "raise" and expected.rejects:
            with pytest.raises(ParseError) as caught:
                read_csv(data, *way, shrink=options.shrink, **own)
            assert_same_error(caught.value, expected)
        else:
            assert_same_table(read_csv(data, *way, shrink=options.shrink, **own), expected)


@st.composite
def columns(draw: st.DrawFn, pools: list[list[str]], sep: bytes) -> bytes:
    """A table whose fields come from one pool a column, quoted where they must be, some where they need not."""
    lines = [sep.join(b"c%d" % i for i in range(len(pools)))]
    for _ in range(draw(st.integers(0, 30))):
        cells = [draw(st.sampled_from(pool)).encode() for pool in pools]
        quotes = draw(st.integers(0, 2 ** len(cells) - 1)) if draw(st.booleans()) else 0
        lines.append(sep.join(b'"%s"' % c if sep in c or quotes >> i & 1 else c for i, c in enumerate(cells)))
    return b"\n".join(lines)


def policies() -> st.SearchStrategy[str]:
    return st.sampled_from(["raise", "null", "null", "reject"])


NUMBER_TYPES = ["int8", "int64", "uint16", "uint64", "float32", "float64"]


@given(st.data())
@settings(SETTINGS, max_examples=examples(400))
def test_numbers_of_any_marks(data: st.DataObject) -> None:
    decimal, thousands = data.draw(st.sampled_from(MARKS))
    sep = data.draw(st.sampled_from([b";", b",", b"\t"]))
    usual = Forms(decimal=decimal, thousands=thousands)
    own = [text for text in NUMBERS if usual.plain(text.encode()) != b"?"]
    pools = data.draw(st.lists(st.sampled_from([NUMBERS, own, own, own[:8]]), min_size=1, max_size=3))
    types = {i: name for i in range(len(pools)) if (name := data.draw(st.sampled_from([None, None, *NUMBER_TYPES])))}
    null = data.draw(st.sampled_from([(b"",), (b"", b"-"), (b"1,234", b"0"), (b"NA",)]))
    text = data.draw(columns(pools, sep))
    options = ReferenceOptions(
        dialect=Dialect(sep=sep), header=data.draw(st.sampled_from(["infer", True])), types=types, words=Words(null=null),
        forms=usual, shrink=data.draw(st.booleans()), on_error=data.draw(policies()),
    )  # fmt: skip
    check(text, options)


TIME_TYPES = ["date32", "timestamp[us]", "timestamp[ns]", "timestamp[s, UTC]", "timestamp[ms, Europe/Berlin]"]


@given(st.data())
@settings(SETTINGS, max_examples=examples(400))
def test_dates_of_any_formats(data: st.DataObject) -> None:
    """Formats of all columns, or of the first alone, or days first."""
    formats = tuple(data.draw(st.lists(st.sampled_from(FORMATS), min_size=1, max_size=3)))
    fitting = [text for text in TIMES if _fits(text, formats)] or TIMES
    pools = data.draw(st.lists(st.sampled_from([TIMES, fitting, fitting]), min_size=1, max_size=3))
    types = {i: name for i in range(len(pools)) if (name := data.draw(st.sampled_from([None, None, *TIME_TYPES])))}
    dayfirst = data.draw(st.booleans())
    shared = Forms(formats=DAYFIRST) if dayfirst else Forms()
    how = data.draw(st.sampled_from(["all", "first", "none"]))
    forms_of: Mapping[int, Forms] = {}
    given_formats: Any = None
    if how == "all":
        shared, given_formats = Forms(formats=formats, iso=False), list(formats)
    elif how == "first":
        forms_of = {0: Forms(formats=formats, iso=False, dates_before_numbers=True)}
        given_formats = {data.draw(st.sampled_from([0, -len(pools)])): formats}
    null = data.draw(st.sampled_from([(b"",), (b"", b"NaN"), (b"20240131", b"31.01.2024")]))
    text = data.draw(columns(pools, b";"))
    options = ReferenceOptions(
        dialect=Dialect(sep=b";"), header=data.draw(st.sampled_from(["infer", True, False])), types=types, words=Words(null=null),
        forms=shared, forms_of=forms_of, on_error=data.draw(policies()),
    )  # fmt: skip
    check(text, options, date_format=given_formats, dayfirst=dayfirst)


MEAN_NULL = ["", "NA", "-", "0", "1.5", "2024-01-31", "31.01.2024", "true", "x"]


@given(st.data())
@settings(SETTINGS, max_examples=examples(400))
def test_nulls_of_single_columns(data: st.DataObject) -> None:
    """Some columns have their own texts for null, one of them perhaps its own formats of dates as well."""
    width = data.draw(st.integers(1, 4))
    own = data.draw(st.dictionaries(st.integers(0, width - 1), st.lists(st.sampled_from(MEAN_NULL), max_size=3, unique=True)))
    forms_of: Mapping[int, Forms] = {}
    given_formats: Any = None
    if data.draw(st.booleans()):
        forms_of = {0: Forms(formats=("%d.%m.%Y",), iso=False, dates_before_numbers=True)}
        given_formats = {"c0": "%d.%m.%Y"}
    numbers, dates, words = [*MEAN_NULL[:5], "7"], [*MEAN_NULL[:3], *MEAN_NULL[5:7], "1999-12-31"], [*MEAN_NULL, "false"]
    text = data.draw(columns([data.draw(st.sampled_from([numbers, dates, words])) for _ in range(width)], b";"))
    types = {
        i: name for i in range(width) if (name := data.draw(st.sampled_from([None, None, "int8", "date32", "bool", "string"])))
    }
    options = ReferenceOptions(
        dialect=Dialect(sep=b";"), header=True, types=types, words=Words(quoted_null=data.draw(st.booleans())),
        forms_of=forms_of, nulls_of={column: tuple(text.encode() for text in texts) for column, texts in own.items()},
        on_error=data.draw(policies()),
    )  # fmt: skip
    given_nulls = {data.draw(st.sampled_from([i, i - width, f"c{i}"])): texts for i, texts in own.items()}
    check(text, options, date_format=given_formats, null_values=given_nulls, quoted_null=options.words.quoted_null)


def _fits(text: str, formats: tuple[str, ...]) -> bool:
    return moment_of(text.encode(), Forms(formats=formats, iso=False)) is not None


STRPTIME = ["%d.%m.%Y %H:%M:%S", "%m/%d/%y", "%B %d, %Y %I:%M %p", "%d-%b-%Y %H:%M", "%Y%j", "%Y-%m-%d %H:%M:%S.%f"]


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("form", STRPTIME)
def test_as_pythons_strptime(form: str, isa: str) -> None:
    rng = random.Random(form)
    texts = [(EPOCH + datetime.timedelta(microseconds=rng.randint(-(10**15), 3 * 10**15))).strftime(form) for _ in range(2003)]
    texts += ["".join(rng.choice([c, c, c, c, c, c, c, c, rng.choice("0129:/.-AP")]) for c in text) for text in texts]
    texts = [text for text in texts if "0000" not in text]  # a year that Python does not have
    expected = [_strptime(text, form) for text in texts]
    data = "\n".join(["when", *texts]).encode()
    table = read_csv(data, isa, date_format=form, dtypes="timestamp[us]", on_error="null", null_values=[], sep="\t", header=True)
    assert table["when"].to_pylist() == expected
    assert any(value is None for value in expected)


def _strptime(text: str, form: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.strptime(text, form)
    except ValueError:
        return None


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("Africa/Casablanca", "+05:30")
@pytest.mark.parametrize("zone", ZONES)
def test_local_times(zone: str) -> None:
    rng = random.Random(zone)
    days = [rng.randint(-719_000, 2_900_000) for _ in range(1500)] + [rng.randint(-30_000, 40_000) for _ in range(1500)]
    texts = [(EPOCH + datetime.timedelta(days=day, seconds=rng.randint(0, 86399))).isoformat(" ") for day in days]
    for year in (1916, 1945, 1980, 2007, 2024, 2037, 2038, 2100, 2400, 2500, 2501, 2999, 9000):
        for month, day in ((3, 8), (3, 31), (4, 2), (4, 7), (10, 1), (10, 6), (10, 31), (11, 3)):
            begin = datetime.datetime(year, month, day)
            around = [(begin + datetime.timedelta(minutes=15 * i)).isoformat("T") for i in range(-400, 400, 3)]
            texts += rng.sample(around, len(around) // 4)
    texts += [text + rng.choice(["Z", "+02:00", "-0330"]) for text in rng.sample(texts, 200)] + ["0000-01-01 00:00:00"]
    data = "\n".join(["when", *texts]).encode()
    type_ = f"timestamp[s, {zone}]"
    check(data, ReferenceOptions(header=True, types={0: type_}, on_error="null"), [(isa, 4096, 2) for isa in ISAS])
    table, *others = (read_csv(data, isa, dtypes=type_, on_error="reject") for isa in ISAS)
    raw = raw_values(table["when"])
    assert all(raw_values(other["when"]) == raw for other in others)
    for value, seconds in zip(table["when"].to_pylist(), raw, strict=True):
        if isinstance(value, datetime.datetime) and 1 < value.year < 9999:
            assert value.timestamp() == seconds and value.tzinfo is not None


LATE = [
    (["1,5"], ["1.234,5", "12", "1.5", "x"]),
    (["1.234"], ["9.223.372.036.854.775.808", "-1", "1,0", "01"]),
    (["31.01.2024"], ["31.01.2024 12:00", "20240131", "2024-01-31", "1,5"]),
    (["20240131"], ["31.01.2024", "20240132", "7"]),
]


@pytest.mark.covering(default=0, long=0)
@pytest.mark.long_except("0", "3")
@pytest.mark.parametrize("seed", range(6))
def test_what_turns_up_late(seed: int) -> None:
    """Beyond the text that makes the first guess."""
    rng = random.Random(seed)
    rows = [
        ";".join(rng.choice(late if row > 11_000 and rng.random() < 0.003 else early) for early, late in LATE)
        for row in range(12_000)
    ]
    data = ("a;b;c;d\n" + "\n".join(rows)).encode()
    marks = Forms(decimal=b",", thousands=b".")
    given_formats: Any = ["%d.%m.%Y", "%Y%m%d", "%d.%m.%Y %H:%M"]
    dated = replace(marks, formats=tuple(given_formats), iso=False)
    options = ReferenceOptions(dialect=Dialect(sep=b";"), header=True, forms=dated, on_error="null")
    if seed % 2:
        options = replace(options, forms=marks, forms_of={3: replace(dated, dates_before_numbers=True)})
        given_formats = {"d": given_formats}
    check(data, options, [(isa, chunk, 2) for isa in ISAS for chunk in (1000, 256 << 10)], date_format=given_formats)
