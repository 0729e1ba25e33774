"""Tests that a text of several parts, each of which the log has while the next one is read, is one change."""

from __future__ import annotations

import pyarrow as pa
import pytest

import headrace
from headrace import OptionError, ParseError, Store

SCHEMA = {"n": "int64", "t": "string"}
ROWS = 1 << 20


@pytest.fixture(scope="module")
def text():
    """Return a text of 17 MB or more, which has two parts."""
    block = b"".join(b"%d,%s\n" % (i * 7_777_777_777, b"some text" * (i % 3)) for i in range(1 << 10))
    return b"n,t\n" + block * (ROWS >> 10)


@pytest.mark.parametrize("sync", ["always", "never"])
def test_a_long_text_is_one_change(sync, text, tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(text)
    expected = pa.table(headrace.read_csv(text, dtypes=SCHEMA))
    with Store(tmp_path / "s", schema=SCHEMA, sync=sync) as store:
        assert store.append(b"n,t\n7,x\n") == 1
        for source in (text, path):
            added = store.append(source)
            assert added == added.report.rows == len(expected)
        before = store.table()
        assert pa.table(before).slice(1).equals(pa.concat_tables([expected, expected]))
    with Store(tmp_path / "s") as store:
        assert pa.table(store.table()).equals(pa.table(before))
        store.merge()
        assert pa.table(store.table()).equals(pa.table(before))


def test_a_fault_at_the_end_of_a_long_text_adds_no_row(text, tmp_path):
    with Store(tmp_path / "s", schema=SCHEMA) as store:
        store.append(b"n,t\n7,x\n")
        sizes = store.statistics
        with pytest.raises(ParseError, match=rf"line {ROWS + 2:_}|line {ROWS + 2}"):
            store.append(text + b"x,y\n")
        with pytest.raises(OptionError, match="source does not have the columns of the store"):
            store.append(text.replace(b"n,t", b"n,u", 1))
        assert store.statistics == sizes
        added = store.append(text + b"x,y\n", on_error="reject")
        assert (added, added.report.rejected) == (ROWS, 1)
        assert added.rejects.select("line", "field").to_pylist() == [{"line": ROWS + 2, "field": "x"}]
    with Store(tmp_path / "s") as store:
        assert len(store) == ROWS + 1
