"""`read_csv` against the plain reference: any text, dialect, types, policy, chunk size, thread count and instruction set."""

from __future__ import annotations

import random
import zlib
from itertools import cycle

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import headrace
from headrace import Context, Dialect, ParseError, Table, _native
from headrace.testing.compare import assert_same_error, assert_same_table
from headrace.testing.reference import MalformedHeaderError, NoRecordError, ReferenceOptions, ReferenceTable, read
from headrace.testing.strategies import dialects, texts
from headrace.testing.values import Words
from tests.examples import examples

CHUNKS = (1, 2, 3, 7, 64, 65, 4096)
THREADS = (1, 2, 4)
WAYS = [(isa, chunk, threads) for (isa, chunk), threads in zip([(i, c) for i in _native.isas() for c in CHUNKS], cycle(THREADS))]
"""Every instruction set with every chunk size; the thread counts take turns, differently for each instruction set."""
assert {(isa, threads) for isa, _, threads in WAYS} == {(isa, t) for isa in _native.isas() for t in THREADS}
TURNS = 3
"""Each drawn text is read in one of three ways, by every instruction set. There are enough texts for every way."""
assert all({isa for isa, _, _ in WAYS[turn::TURNS]} == set(_native.isas()) for turn in range(TURNS))

SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

CELLS = {
    "int8": ["0", "1", "-1", "127", "128", "-128", "-129", "+5", "007", "12x", "-"],
    "uint16": ["0", "65535", "65536", "-1", "-0", "9"],
    "int64": [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "12345678",
        "123456789",
    ],
    "uint64": ["18446744073709551615", "18446744073709551616", "-7", "1"],
    "float64": [
        "1.5",
        "-0.0",
        ".5",
        "5.",
        ".",
        "1e5",
        "1e400",
        "-1e-400",
        "nan",
        "NaN(0x1)",
        "-inf",
        "0.1",
        "123456789.125",
        "00.5",
        "1.2.3",
    ],
    "float32": ["16777217", "0.1", "3.4028236e38", "1e-46", "1.00000017881393432617187499", "-2.5"],
    "bool": ["true", "false", "True", "FALSE", "yes", "1"],
    "date32": ["2024-02-29", "2023-02-29", "0000-01-01", "9999-12-31", "1969-12-31", "2024-13-01", "2024-1-01", "2024/1/1"],
    "timestamp[s]": ["2024-02-29 23:59:59", "1969-12-31T23:59:59", "2024-01-01 00:00:00.5", "2024-01-01 24:00:00", "2024-01-01"],
    "timestamp[us]": [
        "2024-02-29 23:59:59.123456",
        "2024-02-29T01:02",
        "9999-12-31 23:59:59.999999",
        "2024-01-01 00:00:00.1234567",
    ],
    "timestamp[ns]": ["2262-04-11 23:47:16.854775807", "2262-04-11 23:47:16.854775808", "1677-09-21 00:12:43.145224192"],
    "timestamp[us, UTC]": ["2024-01-01 00:00:00Z", "2024-01-01T00:00:00.5+05:30", "2024-01-01 00:00-08", "2024-01-01"],
    "time32[s]": ["23:59:59", "00:00", "24:00:00", "12:30:15.0", "12:30:15.5", "1:00:00"],
    "time64[us]": ["12:30:15.123456", "12:30:15.1234567", "23:59:59.999999", "00:00:00", "12:60:00"],
    "time64[ns]": ["12:30:15.123456789", "01:02:03.0", "23:59:59"],
    "duration[us]": ["P1DT2H3M4.5S", "-PT1S", "1 day, 2:03:04", "-1 days +23:59:59", "5 days", "26:00:00", "P1M", "P200000000D"],
    "duration[ns]": ["PT0.123456789S", "-2 days -00:00:01.1234567", "P106751D", "P106752D", "P1Y"],
    "decimal128(5, 2)": ["1.5", "-999.99", "1000", "0.125", "1.250", "1e2", "1e-3", "-0.00", "nan", "+7", "."],
    "decimal128(38, 9)": ["12345678901234567890123456789.123456789", "1e28", "1e29", "-0.000000001", "123456.5"],
    "hex": ["0x1F", "0Xff", "0x7FFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFF", "0x10000000000000000", "-0x1", "0x", "0xg"],
    "binary": ["\xa0\xff", "plain", '"', "NA"],
    "null": ["", "", "NA", "0"],
    "string": ["x", "é", "a b", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "-", "NA"],
}
EVERYWHERE = ["", "NA", "x"]
GIVEN = {name: name for name in CELLS} | {"hex": "int64"}
"""The type that a column of such cells is given, where it is not inferred."""


def read_csv(data: bytes, options: ReferenceOptions, isa: str, chunk: int, threads: int) -> Table:
    dialect, words = options.dialect, options.words
    return headrace.read_csv(
        data,
        sep=dialect.sep,
        quote_char=dialect.quote_char,
        double_quote=dialect.double_quote,
        strict_quotes=dialect.strict_quotes,
        escape_char=dialect.escape_char,
        escape_sequences=dialect.escape_sequences,
        comment=dialect.comment,
        lineterminator=dialect.lineterminator,
        skip_initial_space=dialect.skip_initial_space,
        strip=dialect.strip,
        skip_blank_lines=dialect.skip_blank_lines,
        header=options.header,  # type: ignore[arg-type]
        dtypes=options.types or None,
        null_values=words.null,  # type: ignore[arg-type]
        true_values=words.true,  # type: ignore[arg-type]
        false_values=words.false,  # type: ignore[arg-type]
        quoted_null=words.quoted_null,
        shrink=options.shrink,
        on_error=options.on_error,  # type: ignore[arg-type]
        context=Context(isa=isa),
        threads=threads,
        chunk_bytes=chunk,
    )


def check(data: bytes, options: ReferenceOptions, expected: ReferenceTable, way: tuple[str, int, int]) -> None:
    if options.on_error == "raise" and expected.rejects:
        with pytest.raises(ParseError) as caught:
            read_csv(data, options, *way)
        assert_same_error(caught.value, expected)
    else:
        assert_same_table(read_csv(data, options, *way), expected)


def check_all(data: bytes, options: ReferenceOptions) -> None:
    try:
        expected = read(data, options)
    except (NoRecordError, MalformedHeaderError):
        assume(False)
        return
    turn = zlib.crc32(data) % TURNS
    for way in WAYS[turn::TURNS]:
        check(data, options, expected, way)


@st.composite
def options_for(draw: st.DrawFn, dialect: Dialect, types: dict[int, str]) -> ReferenceOptions:
    return ReferenceOptions(
        dialect=dialect,
        header=draw(st.sampled_from(["infer", True, False])),
        types=types,
        words=Words(
            null=draw(st.sampled_from([(b"",), (b"",), (b"", b"NA"), (b"NA",), (b"0", b"-"), ()])),
            true=draw(st.sampled_from([(b"true", b"True", b"TRUE"), (b"yes", b"1")])),
            quoted_null=draw(st.booleans()),
        ),
        shrink=draw(st.booleans()),
        on_error=draw(st.sampled_from(["raise", "null", "null", "reject", "reject"])),
    )


@st.composite
def any_text(draw: st.DrawFn) -> tuple[bytes, ReferenceOptions]:
    """Special bytes in any order, in any dialect."""
    dialect = draw(dialects())
    data = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + draw(texts(dialect))
    types = {0: draw(st.sampled_from(["string", "int8", "large_string"]))} if draw(st.booleans()) else {}
    return data, draw(options_for(dialect, types))


@st.composite
def typed_text(draw: st.DrawFn, max_rows: int = 40) -> tuple[bytes, ReferenceOptions]:
    """Columns of one type's values and near misses, some records too short or too long, some bytes changed."""
    sep = draw(st.sampled_from([b",", b"\t", b"||", b"ab"]))
    end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    dialect = Dialect(sep=sep, skip_initial_space=draw(st.booleans()), escape_char=draw(st.sampled_from([None, None, b"\\"])))
    names = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4))
    tame = draw(st.booleans())
    lines = [sep.join(b"c%d" % i for i in range(len(names)))]
    for _ in range(draw(st.integers(0, max_rows))):
        pools = [CELLS[name][: 4 if tame else None] + ([] if tame else EVERYWHERE) for name in names]
        cells = [draw(st.sampled_from(pool)).encode("latin-1" if "\xa0" in pool else "utf-8") for pool in pools]
        quoted = draw(st.integers(0, 2 ** len(cells) - 1)) if draw(st.booleans()) else 0
        lines.append(sep.join(b'"%s"' % cell if quoted >> i & 1 else cell for i, cell in enumerate(cells)))
    data = bytearray(end.join(lines) + draw(st.sampled_from([b"", end])))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        at = draw(st.integers(len(lines[0]), len(data)))
        data[at : at + draw(st.integers(0, 2))] = draw(st.sampled_from([b'"', sep, end, b"\xff", b"\0", b" ", b"\\", b"#", b"9"]))
    given = draw(st.integers(0, 2 ** len(names) - 1))
    types = {i: GIVEN[name] for i, name in enumerate(names) if given >> i & 1}
    return bytes(data), draw(options_for(dialect, types))


@given(any_text())
@settings(SETTINGS, max_examples=examples(400))
def test_any_text(case: tuple[bytes, ReferenceOptions]) -> None:
    check_all(*case)


@given(typed_text())
@settings(SETTINGS, max_examples=examples(600))
def test_typed_text(case: tuple[bytes, ReferenceOptions]) -> None:
    check_all(*case)


@given(typed_text(max_rows=300))
@settings(SETTINGS, max_examples=examples(40))
def test_long_text(case: tuple[bytes, ReferenceOptions]) -> None:
    check_all(*case)


LATE = [
    ([b"1", b"-2", b""], [b"9223372036854775808", b"0.5", b"x\xff", b"007", b"+5", b"+12345678"]),
    ([b"1.5"], [b"2024-01-01", b"true", b"18446744073709551616"]),
    ([b"2024-01-01"], [b"2024-01-01 00:00:00", b"2024/1/1 00:00:00.1234567", b"9999-01-01", b"2024-1-1", b"NA"]),
    ([b""], [b"1", b"true", b"\xff", b'"quo""ted"']),
    ([b"18446744073709551616"], [b"1", b"-1", b"0.5", b"x"]),
    ([b"1", b"2", b"3"], [b"x", b"128", b"", b"1.5"]),
    ([b"text", b"\xc3\xa9"], [b"\xff", b'"a\nb"', b""]),
    ([b"12:30:15", b"00:00:00.5"], [b"12:30:15.1234567", b"12:30", b""]),
    ([b"P1DT2H", b"-1 day, 23:59:59"], [b"PT0.123456789S", b"P150000D", b"12:30:15"]),
    ([b"0x1F", b"0XFF"], [b"0xFFFFFFFFFFFFFFFF", b"7", b"0x1g"]),
]
"""Cells at the begin of a column, and cells that may occur once its type seems clear."""


@pytest.mark.covering(long=0)
@pytest.mark.long_except("4")
@pytest.mark.parametrize("seed", range(0, 8, 2))
def test_types_and_faults_that_turn_up_late(seed: int) -> None:
    """Values that change the type after the first records, which determine the first guess. There are then several passes."""
    rng = random.Random(seed)
    rows = []
    for row in range(9000):
        cells = [rng.choice(late if row > 8000 and rng.random() < 0.002 else early) for early, late in LATE]
        rows.append(b",".join(cells[:-1] if rng.random() < 0.001 else cells))
    data = b"a,b,c,d,e,f,g,h,i,j\n" + b"\n".join(rows)
    assert sum(map(len, rows[:8000])) > 280_000
    options = ReferenceOptions(
        header=True, types={5: "int8"} if seed % 4 else {}, on_error=["null", "reject"][seed // 4], shrink=seed in (2, 4)
    )
    expected = read(data, options)
    for isa in _native.isas():
        for chunk, threads in ((1000, 4), (20_000, 2), (256 << 10, 1), (1 << 20, 1)):
            check(data, options, expected, (isa, chunk, threads))
