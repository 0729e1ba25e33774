"""Integers that a column of floats does not hold exactly: the report names the first, from every reader."""

from __future__ import annotations

from typing import Any

import pytest

from headrace import Context, _native, read_csv, scan_csv

FIRST = b"9007199254740993"


def rounded(data: bytes, **options: Any) -> tuple[int, bytes] | None:
    """Record and text of the first rounded integer of column `a`, the same from every reader."""
    table = read_csv(data, **options)
    found = [table.report.columns[0].rounded]
    for isa in _native.isas():
        for chunk in 1, 64, 1 << 20:
            context = Context(isa=isa, threads=2)
            found.append(read_csv(data, chunk_bytes=chunk, context=context, **options).report.columns[0].rounded)
    for batch in 1, 1 << 20:
        scan = scan_csv(data, batch_bytes=batch, **options)
        scan.read()
        found.append(scan.report.columns[0].rounded)
    assert len({one and (one.record, one.byte, one.text) for one in found}) == 1
    one = found[0]
    assert one is None or data[one.byte : one.byte + len(one.text)] == one.text
    return one and (one.record, one.text)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([FIRST, b"1.5"], (1, FIRST)),
        ([b"1.5", FIRST], (2, FIRST)),
        ([b"1.5", b"7", b"-" + FIRST, FIRST], (3, b"-" + FIRST)),
        ([b"1.5", b"9223372036854775807"], (2, b"9223372036854775807")),
        ([b"1.5", b"123456789012345678"], (2, b"123456789012345678")),
        ([b"1.5", b"9007199254740992"], None),
        ([b"1.5", b"9007199254740994"], None),
        ([b"1.5", b"-9223372036854775808"], None),
        ([b"1.5", b"4611686018427387904"], None),
        ([b"1.5", FIRST + b".0"], None),
        ([b"1.5", b"0.1"], None),
        ([b"1", FIRST], None),
        ([FIRST, b"1.5", b"x"], None),
        ([b'"' + FIRST + b'"', b"1.5"], (1, b'"' + FIRST + b'"')),
    ],
)
def test_the_first_is_reported(fields: list[bytes], expected: tuple[int, bytes] | None) -> None:
    data = b"a,b\n" + b"".join(field + b",1\n" for field in fields)
    assert rounded(data) == expected
    many = b"a,b\n" + b"".join(field + b",1\n" for field in fields for _ in range(40))
    assert (rounded(many) is None) == (expected is None)


def test_other_marks() -> None:
    data = b"a;b\n9.007.199.254.740.993;1\n1,5;2\n"
    assert rounded(data, sep=";", decimal=",", thousands=".") == (1, b"9.007.199.254.740.993")


def test_given_types_are_not_reported() -> None:
    assert rounded(b"a,b\n" + FIRST + b",1\n", dtypes={"a": "float64"}) is None


def test_shrunk_columns() -> None:
    table = read_csv(b"a\n" + FIRST + b"\n1.5\n", shrink=True)
    assert table.report.columns[0].rounded.record == 1
    assert read_csv([b"a\n" + FIRST + b"\n1.5\n"], shrink=True).report.columns[0].rounded.record == 1


def test_the_report_says_so() -> None:
    assert "integers are rounded from record 1: '9007199254740993' on" in str(read_csv(b"a\n" + FIRST + b"\n1.5\n").report)


def test_of_several_files() -> None:
    table = read_csv([b"a\n1\n", b"a\n2\n" + FIRST + b"\n", b"a\n0.5\n"])
    found = table.report.columns[0].rounded
    assert (found.record, found.text, found.file) == (2, FIRST, table.report.files[1].path)
    assert f"integers are rounded from {found.file}, record 2" in str(table.report)
