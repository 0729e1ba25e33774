"""The account of a read: sums that hold, types with the field that forced them, and its text."""

from __future__ import annotations

import dataclasses

import pytest

import headrace
from headrace.api.report import Evidence, Skipped
from headrace.columns.types import DataType

TEXT = b"a,b,b\n\n# note\n1,x,2024-01-02\n2.5,,\nbad,y\n3,z,2024-01-03\n"
OPTIONS = {"comment": "#", "on_error": "reject", "threads": 1}


def report():
    return headrace.read_csv(TEXT, **OPTIONS).report


def test_records_add_up():
    found = report()
    assert (found.bytes, found.records, found.rows, found.rejected, found.faults) == (len(TEXT), 7, 3, 1, 1)
    assert found.skipped == Skipped(header=1, blank=1, comment=1) and found.skipped.total == 3
    found.check()


@pytest.mark.parametrize("changes", [{"rows": 4}, {"rejected": 0}, {"records": 8}, {"skipped": Skipped()}])
def test_records_that_do_not_add_up_are_noticed(changes):
    with pytest.raises(AssertionError, match="records, but"):
        dataclasses.replace(report(), **changes).check()


def test_each_type_has_the_field_that_forced_it():
    first, second, third = report().columns
    assert (first.name, first.type, first.inferred, first.nulls) == ("a", DataType("float64"), True, 0)
    assert first.evidence == Evidence(record=2, byte=TEXT.index(b"2.5"), text=b"2.5")
    assert (second.type, second.nulls, second.evidence.text) == (DataType("string"), 1, b"x")
    assert (third.type, third.evidence.record) == (DataType("date32"), 1)


def test_given_types_need_no_evidence():
    column = headrace.read_csv(b"a\n1\n", dtypes={"a": "int8"}).report.columns[0]
    assert (column.type, column.inferred, column.evidence) == (DataType("int8"), False, None)


def test_changed_names_are_told():
    assert report().renamed == {"3: 'b'": "b_1"}


def test_place_and_seconds_are_told():
    found = report()
    assert (found.device, found.threads) == ("cpu", 1) and found.isa in headrace._native.isas()
    assert {"prepare", "find", "convert", "finish", "total"} <= set(found.seconds)
    assert all(seconds >= 0 for seconds in found.seconds.values())


def test_report_is_a_page_of_text():
    found = dataclasses.replace(report(), seconds={"find": 0.5, "total": 1.25}, isa="avx2")
    assert str(found).splitlines() == [
        "56 bytes, 7 records = 3 rows + 1 rejected + 3 skipped (1 header, 1 blank, 1 comment)",
        "faults: 1; passes over the text: 1",
        "device: cpu, avx2; threads: 1",
        "seconds: find 0.500, total 1.250",
        "the first record is taken for the header: none of its fields is a number, a date or another value",
        "renamed 3: 'b' to 'b_1'",
        "  a: float64 (record 2: '2.5'; 0 null)",
        "  b: string (record 1: 'x'; 1 null)",
        "  b_1: date32 (record 1: '2024-01-02'; 1 null)",
    ]


def test_report_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        report().rows = 0


def test_the_total_of_what_was_skipped_counts_each_kind_once():
    kinds = ("header", "blank", "comment", "preamble", "rows", "footer")
    assert Skipped(**{kind: 1 << place for place, kind in enumerate(kinds)}).total == 0b111111


def test_a_word_that_makes_a_column_text_is_named() -> None:
    text = b"n,s\n1,x\nNA,NA\n3,y\n"
    lines = str(headrace.read_csv(text).report).splitlines()
    assert "  n: string (text because of record 2: 'NA'; pass null_values=['', 'NA'] if it means null; 0 null)" in lines
    assert "  s: string (record 1: 'x'; 0 null)" in lines
    assert str(headrace.read_csv(text, null_values=["", "NA"]).schema["n"]) == "int64"
