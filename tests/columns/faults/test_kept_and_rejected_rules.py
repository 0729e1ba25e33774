"""Records with several properties at once: malformed quotes, missing fields, long delimiters, and faults of two passes."""

from __future__ import annotations

from typing import Any

import pytest

from headrace import read_csv
from tests.columns.faults.rejects_cases import read


@pytest.mark.parametrize("policy", ["null", "reject"])
def test_a_whole_record_with_malformed_quotes_is_not_short(policy: str) -> None:
    data = b'a,b,c\n1,2,3\n4,5\n6,x "y" z,8\n'
    table = read(data, lenient_quotes=True, short_records=policy, on_error="reject")
    short = [4] if policy == "null" else []
    assert table["a"].to_pylist() == [1, *short, 6]
    assert table["b"].to_pylist()[-1] == 'x "y" z'
    assert table.report.filled == len(short)


@pytest.mark.parametrize(("sep", "end"), [("||", "\n"), (",", "\r\n"), (",", ";;"), ("|||", ";;")])
def test_last_fields_beside_a_short_record(sep: str, end: str) -> None:
    """Delimiters of unequal lengths: the last field of a record ends before the line end's first byte."""
    lines = [sep.join(record) for record in (["a", "b", "c"], ["1", "2", "33"], ["4", "5"], ["6", "7", "88"])]
    options: dict[str, Any] = {"sep": sep, "lineterminator": None if end == "\n" else end}
    table = read_csv(end.join([*lines, ""]).encode(), short_records="null", **options)
    assert table.to_pydict() == {"a": [1, 4, 6], "b": [2, 5, 7], "c": [33, None, 88]}


@pytest.mark.parametrize(("record", "byte"), [(b"1,x\xff", 7), (b"1,\xffx", 6), (b"1,abc\xffdef", 9)])
def test_the_place_of_invalid_bytes_in_a_text(record: bytes, byte: int) -> None:
    table = read(b"a,b\n" + record + b"\n", dtypes={"b": str}, on_error="reject")
    assert table.rejects.to_pydict()["byte"] == [byte]


def test_invalid_bytes_in_the_rejects_of_many_tiles() -> None:
    """Each takes four bytes as \\xFF: the texts of a tile begin where those of the preceding one end."""
    table = read((b"a\n" + b"x\xffy\n1\n2\n" * 60), dtypes={"a": int}, on_error="reject", chunk_bytes=64)
    assert table.rejects.to_pydict()["field"] == ["x\\xFFy"] * 60


def test_records_that_the_first_pass_rejects_stay_rejected() -> None:
    """The second pass converts column b only, as text, and does not look at the fault in column a."""
    data = b"a,b\n" + b"x,1\n2,3\n" + b"5,6\n" * 3000 + b"4,late\n"
    table = read(data, dtypes={"a": int}, on_error="reject", chunk_bytes=256)
    assert (table.report.passes, len(table.rejects), table.num_rows) == (2, 1, 3002)
    assert table["b"].to_pylist() == ["3", *["6"] * 3000, "late"]
