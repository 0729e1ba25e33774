"""Tests the lines of faults in reads and scans against a search for line ends."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from headrace import Table, read_csv, scan_csv

OTHERS = {
    "records": b"",
    "blank lines": b"\n",
    "comments": b"# no record\n",
    "quotes": b'1,"a\nb"\n',
    "escapes": b"1,a\\\nb\n",
    "CR": b"1,a\r2,b\r",
    "CR LF": b"1,a\r\n",
    "many fields": b"1,2,3,4\n",
}


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("start", [b"a,b\n", b'"a","b"\n', b"preamble\r\n\n\na,b\n", b"\n\na,b\n0,0\n"])
@pytest.mark.parametrize("on_error", ["null", "reject"])
def test_lines_of_faults(others: str, start: bytes, on_error: str) -> None:
    """The line of a record is its number if each line is a record, and is counted otherwise."""
    rng = random.Random(others)
    body = b"".join(rng.choice([b"1,a\n"] * 20 + [b"x,b\n", OTHERS[others]]) for _ in range(800))
    data = start + body
    options: dict[str, Any] = {
        "header": True,
        "dtypes": {"a": "int64", "b": "string"},
        "on_error": on_error,
        "skip_rows": 3 if start.startswith(b"p") else 0,
        "skip_rows_after_header": 1 if start.endswith(b"0\n") else 0,
        "comment": "#" if others == "comments" else None,
        "escape_char": "\\" if others == "escapes" else None,
    }
    for chunk_bytes, threads in [(1 << 18, 1), (900, 3)]:
        table = read_csv(data, chunk_bytes=chunk_bytes, threads=threads, **options)
        faults = check_lines(data, table)
    batches = list(scan_csv(data, batch_bytes=1500, **options))
    assert len(batches) > 1
    assert sum(check_lines(data, batch) for batch in batches) == faults


def check_lines(data: bytes, table: Table) -> int:
    """Compare the lines of rejects with the line ends before them. Return the number of rejects."""
    rejects = table.rejects.to_pydict()
    for line, at in zip(rejects["line"], rejects["line_byte"], strict=True):
        assert line == len(re.findall(b"\r\n|\r|\n", data[:at])) + 1
    return len(rejects["line"])
