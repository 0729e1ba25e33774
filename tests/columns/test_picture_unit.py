"""Tests tables as text, for any terminal and any values."""

from __future__ import annotations

import pytest

import headrace


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


def picture(text, **options):
    return repr(headrace.read_csv(text, **options)).splitlines()


def test_small_table_is_shown_whole():
    assert picture(b"id,name,ok\n1,ann,true\n22,,\n,cy,false\n") == [
        "shape: (3, 3)",
        "id    │ name   │ ok",
        "int64 │ string │ bool",
        "──────┼────────┼──────",
        "1     │ ann    │ True",
        "22    │ null   │ null",
        "null  │ cy     │ False",
    ]


def test_long_table_shows_first_and_last_rows():
    lines = picture(b"n\n" + b"".join(b"%d\n" % i for i in range(123_456)))
    assert lines[0] == "shape: (123_456, 1)"
    assert lines[4:] == ["0", "1", "2", "3", "4", "…", "123451", "123452", "123453", "123454", "123455"]


def test_ten_rows_are_shown_and_eleven_are_cut():
    assert "…" not in picture(b"n\n" + b"1\n" * 10)
    assert "…" in picture(b"n\n" + b"1\n" * 11)


def test_columns_in_the_middle_give_way_to_the_terminal(monkeypatch):
    text = ",".join(f"c{i}" for i in range(50)) + "\n" + ",".join(["1"] * 50) + "\n"
    lines = picture(text.encode())
    assert lines[0] == "shape: (1, 50)" and max(map(len, lines)) <= 100
    assert lines[1].startswith("c0    │ c1 ") and "│ … │" in lines[1] and lines[1].endswith("c49")
    monkeypatch.setenv("COLUMNS", "5")
    assert picture(text.encode())[1] == "c0    │ …"


def test_single_column_is_not_said_to_have_neighbours(monkeypatch):
    monkeypatch.setenv("COLUMNS", "5")
    assert picture(b"a_long_name\n1\n") == ["shape: (1, 1)", "a_long_name", "int64", "───────────", "1"]


def test_long_texts_are_cut():
    lines = picture(b"a\n" + b"x" * 33 + b"\n" + b"y" * 32 + b"\n")
    assert lines[4:] == ["x" * 31 + "…", "y" * 32]


def test_wide_and_combining_characters_stay_aligned():
    lines = picture("a,b\n日本,1\nx́,2\nabcd,3\n".encode())
    assert lines[4:] == ["日本   │ 1", "x́      │ 2", "abcd   │ 3"]


def test_terminal_is_given_nothing_to_obey():
    lines = picture(b'a\n"x\ny\x1b[31m"\n')
    assert lines[4:] == [r"x\ny\x1b[31m"]


def test_times_are_shown_to_their_last_digit():
    lines = picture(b"a,b\n2024-01-02T03:04:05.123456789,2024-01-02T03:04:05Z\n1969-12-31T23:59:59.000000001,\n,\n")
    assert lines[4:] == [
        "2024-01-02 03:04:05.123456789 │ 2024-01-02 03:04:05+00:00",
        "1969-12-31 23:59:59.000000001 │ null",
        "null                          │ null",
    ]


def test_quantities_are_shown_as_they_are_written(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    types = ["decimal128(12, 9)", "time64[ns]", "time32[s]", "duration[ns]", "duration[s]", "binary", "null"]
    lines = picture(b"0.000000001,12:30:15.5,12:30,-0:00:00.5,P1DT1S,\xff|,\n,,,,,,\n", schema=types, header=False)
    assert lines[4].split(" │ ") == [
        "0.000000001      ",
        "12:30:15.500000000",
        "12:30:00 ",
        "-1 day, 23:59:59.500000000",
        "1 day, 0:00:01",
        "b'\\xff|'",
        "null",
    ]
    assert [cell.strip() for cell in lines[5].split("│")] == ["null"] * 7


def test_nanoseconds_of_a_time_zone() -> None:
    table = headrace.read_csv(b"t\n2024-07-01 12:00:00.000000001\n2024-01-01 12:00:00\n", dtypes="timestamp[ns, Europe/Berlin]")
    assert repr(table).splitlines()[-2:] == ["2024-07-01 12:00:00.000000001+02:00", "2024-01-01 12:00:00+01:00"]
