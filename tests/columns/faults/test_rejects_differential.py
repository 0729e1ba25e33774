"""Compares rejects with the reference where faults are dense, and a limited table of rejects with the whole one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from headrace import Context, MemoryLimitError, ParseError, Table, _native, read_csv, scan_csv
from headrace.testing.compare import assert_same_table
from headrace.testing.reference import ReferenceOptions
from headrace.testing.reference import read as read_reference

TYPES = ["int8", "string", "float64", "int64"]
HEADER = b"a,b,c,d\n"
WAYS = ((1, 2), (13, 1), (64, 3), (1000, 2), (1 << 20, 1))
"""Bytes of a tile, threads."""
GOOD = b"1,text,2.5,7"
FAULTS = [
    b"x,text,2.5,7",  # a value
    b"x,text,y,z",  # several values
    b"300,\xff\xc3\xa9\xfe,2.5,7",  # overflow and invalid UTF-8
    b"1,text,2.5",  # short
    b"1",
    b"1,text,2.5,7,8,9",  # long
    b'1,"te"xt,2.5,7',  # a malformed quote
    b'1,"line\nbreak","2.5"5,7',  # on two lines
    b'\xff,"a\r\nb",\xfe,"x"',
]


def read(data: bytes, **options: Any) -> Table:
    table = read_csv(data, header=True, schema=TYPES, **options)
    table.report.check()
    return table


def text_of(rng: random.Random, records: int, density: float) -> bytes:
    lines = [rng.choice(FAULTS) if rng.random() < density else GOOD for _ in range(records)]
    return HEADER + b"".join(line + rng.choice([b"\n", b"\r\n", b"\n\n"]) for line in lines)


def test_the_texts_of_wide_records_count_in_the_limit() -> None:
    """Each fault has the text of its record: 100 records of 3 KB with 1,000 faults each have 300 MB."""
    data = b"".join(b",".join([b"NA"] * 1000) + b"\n" for _ in range(100))
    options: Any = {"header": False, "dtypes": "float64", "on_error": "null"}
    with pytest.raises(MemoryLimitError, match=r"299600100 more asked for.*fewer listed faults"):
        read_csv(data, context=Context(memory_limit=100_000_000), **options)
    table = read_csv(data, context=Context(memory_limit=100_000_000), max_rejects=1000, **options)
    assert (table.report.faults, len(table.rejects)) == (100_000, 1000)


@pytest.mark.parametrize("place", [0, 1, 2_500, 4_999])
@pytest.mark.parametrize("memory_limit", [None, 1 << 28])
def test_the_first_removed_row(memory_limit: int | None, place: int) -> None:
    """Values of tiles before it are in their place already; those of later tiles move up by a row."""
    rows = [(str(i % 100), "t" * (i % 7), str(i / 4), str(i * 10**6)) for i in range(5_000)]
    lines = [",".join("x" if i == place and c == 0 else text for c, text in enumerate(row)) for i, row in enumerate(rows)]
    data = HEADER + "\n".join(lines).encode()
    kept = rows[:place] + rows[place + 1 :]
    for tile, threads in ((64, 8), (1000, 4), (20_000, 3)):
        context = Context(threads=threads, memory_limit=memory_limit)
        table = read(data, chunk_bytes=tile, context=context, on_error="reject", null_values=())
        assert table["a"].to_pylist() == [int(row[0]) for row in kept]
        assert table["b"].to_pylist() == [row[1] for row in kept]
        assert table["c"].to_pylist() == [float(row[2]) for row in kept]
        assert table["d"].to_pylist() == [int(row[3]) for row in kept]
        assert table.report.rejected == 1


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize("policy", ["null", "reject"])
@pytest.mark.parametrize("density", [1.0, 0.5, 0.05])
def test_dense_faults(density: float, policy: str, isa: str) -> None:
    rng = random.Random(f"{density}{policy}{isa}")
    for records in (1, 2, 64, 150):
        data = text_of(rng, records, density)
        expected = read_reference(data, ReferenceOptions(header=True, types=dict(enumerate(TYPES)), on_error=policy))
        for chunk_bytes, threads in WAYS:
            found = read(data, on_error=policy, context=Context(isa=isa), chunk_bytes=chunk_bytes, threads=threads)
            assert_same_table(found, expected)


@pytest.mark.parametrize("policy", ["null", "reject"])
@pytest.mark.parametrize("places", [{0}, {9}, {0, 9}, set(range(10))])
def test_first_and_last_records_of_tiles(places: set[int], policy: str) -> None:
    lines = [b"%03d,x,%05d,7\n" % (i % 100, i) if i % 10 not in places else b"abc,x,%05d,7\n" % i for i in range(100)]
    data = b"0,text,0.5,12345\n" + b"".join(lines)
    assert {len(line) for line in lines} == {14}
    expected = read_reference(data, ReferenceOptions(header=False, types=dict(enumerate(TYPES)), on_error=policy))
    for chunk_bytes in (139, 140, 141, 280):
        found = read_csv(data, header=False, schema=TYPES, on_error=policy, chunk_bytes=chunk_bytes, threads=3)
        assert_same_table(found, expected)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("options", [{}, {"lenient_quotes": True}, {"short_records": "null", "long_records": "truncate"}])
@pytest.mark.parametrize("policy", ["null", "reject"])
def test_a_limited_table_has_the_first_faults(policy: str, options: dict[str, Any]) -> None:
    data = text_of(random.Random(policy), 120, 0.6)
    whole = read(data, on_error=policy, **options)
    faults = whole.report.faults
    assert faults > 60
    for limit in (0, 1, 2, 17, faults - 1, faults, faults + 1):
        for chunk_bytes, threads in WAYS:
            table = read(data, on_error=policy, max_rejects=limit, chunk_bytes=chunk_bytes, threads=threads, **options)
            assert table.rejects.to_pydict() == {name: texts[:limit] for name, texts in whole.rejects.to_pydict().items()}
            assert (table.report.faults, table.report.rejected) == (faults, whole.report.rejected)
            assert (table.report.filled, table.report.skipped) == (whole.report.filled, whole.report.skipped)
            assert table.to_pydict() == whole.to_pydict()


@pytest.mark.parametrize("limit", [0, 1])
def test_a_limit_does_not_hide_the_fault_that_raises(limit: int) -> None:
    data = b"a,b\n" + b"1\n" * 50 + b"1,x\n1,y\n"
    with pytest.raises(ParseError) as caught:
        read_csv(data, dtypes={"b": "int8"}, short_records="reject", max_rejects=limit, chunk_bytes=16, threads=2)
    assert (caught.value.record, caught.value.text) == (51, "x")


@pytest.mark.parametrize("limit", [None, 0, 3])
def test_a_second_pass_rejects_rows_of_the_first(limit: int | None) -> None:
    """Column b turns out to be text after the sample. Its fault rejects a row of columns that were converted before."""
    lines = [b"%d,%d,true" % (i % 100, i) for i in range(40_000)]
    lines[7], lines[39_000] = b"x,8,true", b"y,9,false"
    lines[30_000], lines[30_001] = b"1,text,false", b"2,\xff,true"
    table = read_csv(
        b"a,b,c\n" + b"\n".join(lines),
        dtypes={"a": "int8"},
        on_error="reject",
        row_index_name="i",
        max_rejects=limit,
        threads=2,
        chunk_bytes=10_000,
    )
    table.report.check()
    gone = {7, 30_001, 39_000}
    assert table["i"].to_pylist() == [i for i in range(40_000) if i not in gone]
    assert table["a"].to_pylist() == [1 if i == 30_000 else i % 100 for i in range(40_000) if i not in gone]
    assert table["b"].to_pylist() == ["text" if i == 30_000 else str(i) for i in range(40_000) if i not in gone]
    assert table["c"].to_pylist() == [i != 30_000 for i in range(40_000) if i not in gone]
    assert table.rejects["record"].to_pylist() == [8, 30_002, 39_001][:limit]
    assert (table.report.faults, table.report.rejected) == (3, 3)


def test_a_limit_holds_for_each_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_bytes(b"n,m\n" + b"x,1\n" * 5 + b"1,300\n" * 2)
    paths = sorted(tmp_path.glob("*.csv"))
    table = read_csv(paths, dtypes={"n": "int8"}, on_error="reject", max_rejects=2, shrink=True)
    table.report.check()
    assert table.rejects["record"].to_pylist() == [1, 2, 1, 2]
    assert (table.report.faults, table.report.rejected, table.num_rows) == (10, 10, 4)
    evidence = table.report.columns[1].evidence  # found by the rejected records, of which the table lists two
    assert evidence is not None and (evidence.record, evidence.byte) == (6, 26)


def test_a_limit_holds_for_each_batch() -> None:
    data = b"n\n" + b"x\n" * 1000
    scan = scan_csv(data, dtypes="int8", on_error="reject", max_rejects=1, batch_bytes=500)
    batches = list(scan.batches())
    assert len(batches) > 2
    assert [len(batch.rejects) for batch in batches] == [1] * len(batches)
    assert sum(batch.report.faults for batch in batches) == 1000
    assert scan.report.faults == 1000


def test_a_fault_of_the_header_is_listed_beside_the_limit() -> None:
    table = read_csv(b'"a"b,c\n1,2\n3,x\n4,y\n', on_error="null", dtypes={1: "int64"}, max_rejects=1)
    assert table.rejects["record"].to_pylist() == [0, 2]
    assert table.report.faults == 3
