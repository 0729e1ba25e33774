"""Tests the output of `write_csv`, byte by byte."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import OptionError, write_csv


def text_of(values: list, kind: pa.DataType, **options) -> list[str]:
    """Return the fields of one column, written beside a column that is never null."""
    table = pa.table({"a": pa.array(values, kind), "b": [0] * len(values)})
    lines = write_csv(table, header=False, **options).decode().removesuffix("\n").split("\n")
    return [line.removesuffix(",0") for line in lines]


@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        (pa.null(), [None], [""]),
        (pa.bool_(), [True, False, None], ["true", "false", ""]),
        (pa.int8(), [-128, 0, 127], ["-128", "0", "127"]),
        (pa.uint64(), [2**64 - 1, 10**8, 10**16 - 1, None], ["18446744073709551615", "100000000", "9999999999999999", ""]),
        (pa.int64(), [-(2**63), 99_999_999, -100_000_000], ["-9223372036854775808", "99999999", "-100000000"]),
        (pa.float16(), [0.5, 65504.0, 2.0**-24, float("-inf")], ["0.5", "65504.0", "5.9604645e-08", "-inf"]),
        (pa.float32(), [0.1, 16777216.0, 1e-45, 3.4028235e38], ["0.1", "16777216.0", "1e-45", "3.4028235e+38"]),
        (pa.float64(), [0.0, -0.0, 1.0, 2.5, 0.1, float("nan")], ["0.0", "-0.0", "1.0", "2.5", "0.1", "NaN"]),
        (
            pa.float64(),
            [1e15, 1e16, 123456789012345680.0, 1e-4, 1e-5],
            ["1000000000000000.0", "1e+16", "1.2345678901234568e+17", "0.0001", "1e-05"],
        ),
        (
            pa.float64(),
            [float("inf"), 5e-324, 1.7976931348623157e308, 9.99],
            ["inf", "5e-324", "1.7976931348623157e+308", "9.99"],
        ),
        (
            pa.date32(),
            [0, -719528, 2932896],
            ["1970-01-01", "0000-01-01", "9999-12-31"],
        ),
        (pa.date64(), [86_400_000, None], ["1970-01-02", ""]),
        (pa.time32("s"), [0, 86399], ["00:00:00", "23:59:59"]),
        (pa.time32("ms"), [1, 1000], ["00:00:00.001", "00:00:01"]),
        (pa.time64("us"), [3_600_000_001, 86400 * 10**6 - 1], ["01:00:00.000001", "23:59:59.999999"]),
        (pa.time64("ns"), [86_399_999_999_999, 1], ["23:59:59.999999999", "00:00:00.000000001"]),
        (pa.timestamp("s"), [0, -1, 951782400], ["1970-01-01 00:00:00", "1969-12-31 23:59:59", "2000-02-29 00:00:00"]),
        (pa.timestamp("ms"), [-1, 500], ["1969-12-31 23:59:59.999", "1970-01-01 00:00:00.500"]),
        (pa.timestamp("ns"), [1, -(2**63)], ["1970-01-01 00:00:00.000000001", "1677-09-21 00:12:43.145224192"]),
        (pa.timestamp("us", "UTC"), [1_000_000], ["1970-01-01 00:00:01Z"]),
        (pa.timestamp("s", "Europe/Berlin"), [0], ["1970-01-01 00:00:00Z"]),
        (pa.timestamp("s"), [-62167219200, 253402300799], ["0000-01-01 00:00:00", "9999-12-31 23:59:59"]),
        (pa.duration("s"), [0, 90061, -1], ["0 days 00:00:00", "1 days 01:01:01", "-1 days +23:59:59"]),
        (pa.duration("s"), [-86400, -86401], ["-1 days +00:00:00", "-2 days +23:59:59"]),
        (pa.duration("ns"), [-(2**63), 1], ["-106752 days +00:12:43.145224192", "0 days 00:00:00.000000001"]),
        (pa.decimal128(5, 2), [Decimal("-0.05"), Decimal("123.45"), Decimal(0), None], ["-0.05", "123.45", "0.00", ""]),
        (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(-(10**38) + 1)], ["9" * 38, "-" + "9" * 38]),
        (pa.decimal128(3, -2), [Decimal("12E2"), Decimal(0)], ["1200", "0"]),
        (pa.decimal256(76, 76), [Decimal("1E-76")], ["0." + "0" * 75 + "1"]),
        (pa.decimal32(9, 3), [Decimal("-1.500")], ["-1.500"]),
        (pa.decimal64(18, 1), [Decimal("99999999999999999.9")], ["99999999999999999.9"]),
        (pa.binary(2), [b"ab", b"\x00,"], ["ab", '"\x00,"']),
    ],
)
def test_values_of_every_type(kind: pa.DataType, values: list, texts: list[str]) -> None:
    assert text_of(values, kind) == texts


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (pa.date32(), -719529, "outside the years 0000 to 9999"),
        (pa.date32(), 2932897, "row 1 of column 'a' has the value 2932897"),
        (pa.date64(), 2932897 * 86_400_000, "outside the years"),
        (pa.timestamp("s"), 253402300800, "253402300800"),
        (pa.timestamp("us", "UTC"), -62167219200 * 10**6 - 1, "-62167219200000001"),
        (pa.timestamp("s"), -(2**63), "-9223372036854775808"),
        (pa.time32("s"), 86_400, "row 1 of column 'a' has the value 86400, which lies outside a day"),
        (pa.time32("ms"), -1, "-1, which lies outside a day"),
        (pa.time64("us"), 86_400 * 10**6, "86400000000"),
        (pa.time64("ns"), -(2**63), "-9223372036854775808"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"sep": "-"}, {"quoting": "all"}])
def test_dates_and_times_that_no_text_reads_back_as(kind: pa.DataType, value: int, message: str, options: dict[str, Any]) -> None:
    values = pa.array([0, value], pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind, safe=False)
    for column in (values, values.dictionary_encode()):
        with pytest.raises(headrace.OptionError, match=message):
            write_csv(pa.table({"a": column}), **options)


def test_pandas_reads_durations_alike() -> None:
    nanoseconds = [0, 1, -1, -86_400 * 10**9, -86_401 * 10**9, 90_061 * 10**9, 2**63 - 1, -106_751 * 86_400 * 10**9]
    texts = text_of(nanoseconds, pa.duration("ns"))
    assert [int(pd.Timedelta(text).value) for text in texts] == nanoseconds


def test_five_special_bytes_are_all_quoted() -> None:
    """Separators of two bytes, line ends of two, and the quote: one more than a step compares at once."""
    texts = ["x<y", "x>y", "x\ry", "x\ny", '"x', "plain" * 9]
    lines = ['"x<y"', '"x>y"', '"x\ry"', '"x\ny"', '"""x"', "plain" * 9]
    found = write_csv(pa.table({"a": texts, "b": texts}), sep="<>", header=False).decode()
    assert found == "".join(f"{line}<>{line}\n" for line in lines)


def test_an_empty_text_alone_in_its_row_needs_quotes() -> None:
    """Without quotes it would be a blank line."""
    assert write_csv(pa.table({"a": ["", "x"], "b": ["y", ""]}), null="NA", quoting="none") == b"a,b\n,y\nx,\n"
    assert write_csv(pa.table({"a": ["", "x"]}), null="NA") == b'a\n""\nx\n'
    with pytest.raises(headrace.OptionError, match="without quotes"):
        write_csv(pa.table({"a": ["", "x"]}), null="NA", quoting="none")


@pytest.mark.parametrize("begin", [0, 1, 3, 8, 13])
def test_slices_of_bools_begin_at_any_bit(begin: int) -> None:
    bools = [number % 3 == 0 for number in range(40)]
    found = write_csv(pa.table({"a": pa.array(bools)[begin:]}), header=False).decode().split()
    assert found == [str(value).lower() for value in bools[begin:]]


def test_dates_in_milliseconds_keep_the_time_of_day() -> None:
    dates = pa.array([0, 1, 86_400_000, 86_400_001, -1], pa.int64()).view(pa.date64())
    times = ["1970-01-01", "1970-01-01 00:00:00.001", "1970-01-02", "1970-01-02 00:00:00.001", "1969-12-31 23:59:59.999"]
    assert write_csv(pa.table({"a": dates}), header=False).decode().splitlines() == times


def test_views_of_every_short_size() -> None:
    """Texts of up to 12 bytes are in the view itself."""
    texts = ["abcdefghijklmnop"[:size] for size in range(17)]
    views = pa.table({"a": pa.array(texts, pa.string_view()), "b": texts})
    assert write_csv(views, header=False) == write_csv(pa.table({"a": texts, "b": texts}), header=False)


def test_a_nan_has_its_sign_and_payload() -> None:
    words = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000123, 0xFFF0000000000001, 0x7FFFFFFFFFFFFFFF]
    column = pa.array(np.array(words, np.uint64).view(float))
    texts = ["NaN", "-NaN", "NaN(0x123)", "-sNaN(0x1)", "NaN(0x7ffffffffffff)"]
    assert write_csv(pa.table({"a": column}), header=False).decode().split() == texts
    assert write_csv(pa.table({"a": column}), header=False, plain_nan=True).decode().split() == ["NaN"] * 5
    assert write_csv(pa.table({"a": column.dictionary_encode()}), header=False).decode().split()[0] == "NaN"
    half = pa.array(np.array([0x7E00, 0xFE00, 0x7E01, 0x7C01], np.uint16).view(np.float16))
    assert write_csv(pa.table({"a": half}), header=False).decode().split() == ["NaN", "-NaN", "NaN(0x2000)", "sNaN(0x2000)"]


def test_dictionaries_of_any_value() -> None:
    whole = pa.array([5, None, 7, 5], pa.timestamp("s")).dictionary_encode()
    nulls = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1], pa.uint16()), pa.array(["x,y", None]))
    table = pa.table({"a": whole, "b": nulls})
    times = ["1970-01-01 00:00:05", "", "1970-01-01 00:00:07", "1970-01-01 00:00:05"]
    assert write_csv(table, header=False).decode().split("\n") == [f"{times[0]},", ',"x,y"', f"{times[2]},", f"{times[3]},", ""]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", '""'),
        ("x", "x"),
        ("007", "007"),
        ("a,b", '"a,b"'),
        ('say "hi"', '"say ""hi"""'),
        ('"', '""""'),
        ("a\nb", '"a\nb"'),
        ("a\rb", '"a\rb"'),
        (" x", '" x"'),
        ("x\t", '"x\t"'),
        ("a b", "a b"),
        ("#1", "#1"),
        ("é日", "é日"),
        ("x" * 15 + "," + "y" * 20, '"' + "x" * 15 + "," + "y" * 20 + '"'),
        ('"' * 40, '"' * 82),
    ],
)
def test_texts_are_quoted_where_needed(text: str, field: str) -> None:
    table = pa.table({"a": [text, text + "tail"], "b": [text, "z"]})
    first = write_csv(table, header=False).decode()
    assert first.startswith(f"{field},{field}\n")


def test_a_text_at_each_offset_of_its_buffer() -> None:
    # Texts at the end of their buffer are read byte by byte, others sixteen at a time.
    for size in range(1, 50):
        for at in range(size):
            plain, comma = "x" * size, "x" * at + "," + "x" * (size - at - 1)
            table = pa.table({"a": [plain, comma, plain], "b": [comma, plain, comma]})
            assert write_csv(table, header=False).decode() == f'{plain},"{comma}"\n"{comma}",{plain}\n{plain},"{comma}"\n'


def test_null_text() -> None:
    assert text_of(["NA", None, "", "N"], pa.string(), null="NA") == ['"NA"', "NA", '""', "N"]
    assert text_of([7, None, 70], pa.int64(), null="7") == ['"7"', "7", "70"]
    assert text_of([None], pa.string(), null="not available at all") == ["not available at all"]


def test_quoting_all_and_none() -> None:
    table = pa.table({"a": pa.array([1, None]), "b": ["x", ' "'], "t": pa.array([0, 1], pa.date32())})
    assert write_csv(table, quoting="all") == b'"a","b","t"\n"1","x","1970-01-01"\n," ""","1970-01-02"\n'
    assert write_csv(table, quote_char=None) == b'a,b,t\n1,x,1970-01-01\n, ",1970-01-02\n'
    assert write_csv(table[:1], quoting="none") == b"a,b,t\n1,x,1970-01-01\n"
    assert write_csv(table[:1], quote_char="'", quoting="all") == b"'a','b','t'\n'1','x','1970-01-01'\n"


def test_separators_and_line_ends() -> None:
    table = pa.table({"a": [1, -2], "b": ["x|", "y"]})
    assert write_csv(table, sep="||") == b'a||b\n1||"x|"\n-2||y\n'
    assert write_csv(table, delimiter="\t", lineterminator="\r\n") == b"a\tb\r\n1\tx|\r\n-2\ty\r\n"
    assert write_csv(table, sep="-") == b'a-b\n1-x|\n"-2"-y\n'
    assert write_csv(table, line_end="|") == b'a,b|1,"x|"|-2,y|'


def test_header() -> None:
    table = pa.table([[1], [2]], names=["a,b", ""])
    assert write_csv(table) == b'"a,b",""\n1,2\n'
    assert write_csv(table, header=False) == b"1,2\n"
    assert write_csv(table[:0]) == b'"a,b",""\n'
    assert write_csv(table[:0], header=False) == b""
    assert write_csv(headrace.Table({})) == b""


def test_what_a_reader_would_take_for_something_else() -> None:
    mark = pa.table({"a": ["\ufeffx", "\ufeffy"]})
    assert write_csv(mark, header=False).decode() == '"\ufeffx"\n\ufeffy\n'
    assert write_csv(pa.table({"BZh91AY": ["#1", "x"], "b": ["#1", "#"]}), comment="#") == b'"BZh91AY",b\n"#1",#1\nx,#\n'
    assert write_csv(pa.table({"a": ["", "x"]})) == b'a\n""\nx\n'
    assert write_csv(pa.table({"a": [None, "x"]}), null="NA") == b"a\nNA\nx\n"


def test_sources_of_tables() -> None:
    text = b'a,b\n1,x\n,""\n'
    table = headrace.read_csv(text, dtypes={"b": "string"})
    assert write_csv(table) == text
    assert write_csv(table[1:]) == b'a,b\n,""\n'
    assert write_csv(table.to_arrow()) == text
    assert write_csv(pl.DataFrame(table)) == text
    assert write_csv(table.to_duckdb()) == text
    assert (
        write_csv(pa.RecordBatchReader.from_batches(table.to_arrow().schema, table.to_arrow().to_batches() * 2))
        == text + text[4:]
    )


def test_long_views_and_many_buffers() -> None:
    texts = [f"{i}" * 20 for i in range(5)] + ["short"]
    frame = pl.concat([pl.DataFrame({"a": texts}), pl.DataFrame({"a": texts[::-1]})], rechunk=False)
    assert write_csv(frame, header=False).decode().split() == texts + texts[::-1]


def test_targets(tmp_path: Path) -> None:
    table, text = pa.table({"a": range(100_000)}), b"a\n" + b"".join(b"%d\n" % i for i in range(100_000))
    assert write_csv(table, tmp_path / "t.csv") is None
    assert (tmp_path / "t.csv").read_bytes() == text
    with (tmp_path / "f.csv").open("wb") as file:
        file.write(b"# first\n")
        assert write_csv(table, file) is None
    assert (tmp_path / "f.csv").read_bytes() == b"# first\n" + text
    for opened in (io.BytesIO(), (tmp_path / "raw").open("w+b", buffering=0)):
        write_csv(table, opened)
        opened.seek(0)
        assert opened.read() == text
        opened.close()


def test_a_file_that_takes_a_part_at_a_time() -> None:
    class Slow:
        data = b""

        def write(self, data: bytes) -> int:
            self.data += data[:7]
            return len(data[:7])

    slow = Slow()
    write_csv(pa.table({"a": ["some longer text"]}), slow)
    assert slow.data == b"a\nsome longer text\n"


@pytest.mark.parametrize(
    ("suffix", "name", "opened"),
    [(".gz", "gzip", gzip.decompress), (".bz2", "bz2", bz2.decompress), (".xz", "xz", lzma.decompress)],
)
def test_compression(tmp_path: Path, suffix: str, name: str, opened) -> None:
    table = pa.table({"a": np.arange(650_000)})  # several pieces, each compressed alone
    text = write_csv(table)
    write_csv(table, tmp_path / f"t.csv{suffix}")
    assert opened((tmp_path / f"t.csv{suffix}").read_bytes()) == text
    sink = io.BytesIO()
    write_csv(table[:0], sink, compression=name)
    assert opened(sink.getvalue()) == b"a\n"
    write_csv(table[:1], tmp_path / f"plain{suffix}", compression=None)
    assert (tmp_path / f"plain{suffix}").read_bytes() == b"a\n0\n"


def test_a_link_stays_a_link_and_permissions_are_the_usual(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    write_csv(pa.table({"a": [1]}), tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "t.csv").read_text() == "a\n1\n"
    assert sorted(os.listdir(tmp_path)) == ["link.csv", "t.csv"]


def test_duckdb_s_types() -> None:
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT 1::HUGEINT AS h, 1.5::DECIMAL(4,2) AS d, TIME '23:59:59' AS t, 'x' AS s")
        assert write_csv(relation) == b"h,d,t,s\n1,1.50,23:59:59,x\n"
        with pytest.raises(OptionError, match="'t' has the value 86400000000, which lies outside a day"):
            write_csv(connection.sql("SELECT TIME '24:00:00' AS t"))
        with pytest.raises(OptionError, match="'i' is an interval"):
            write_csv(connection.sql("SELECT INTERVAL 1 DAY AS i"))
