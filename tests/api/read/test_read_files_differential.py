"""A text cut into files at record boundaries, against the text read whole: values, types, evidence, rejects, the error."""

from __future__ import annotations

import random
from itertools import accumulate, pairwise
from typing import Any

import pytest

from headrace import Context, ParseError, Table, _native, read_csv
from headrace.testing.compare import raw_values
from tests.tiers import seeds

HEADER = b"a,b,c\n"
POOLS = [
    [b"1", b"-2", b"", b"3"],
    [b"1", b"9223372036854775808", b""],
    [b"1", b"18446744073709551616"],
    [b"18446744073709551616", b"0.5", b""],
    [b"0.5", b"1", b"-0.0", b"16777217"],
    [b"true", b"false", b""],
    [b"2024-01-01", b""],
    [b"2024-01-01 00:00:00", b"2024-01-01", b"1066-10-14 09:00:00"],
    [b"2024-01-01 00:00:00.1234567", b"2024-01-01"],
    [b"2024-01-01 00:00:00Z", b"2024-01-01 00:00:00.123456789Z"],
    [b"x", b"longer than that", b"", b'"quo""ted"', "é".encode()],
    [b"\xff", b"x"],
    [b"007", b"300", b"-300"],
    [b"23:59:58", b"", b"00:00:00.1234567"],
    [b"P1DT2H", b"3 days 04:05:06", b""],
    [b"0x1F", b"0xFFFFFFFFFFFFFFFF"],
    [b""],
]
"""Cells of a column from some record on."""


def make_records(rng: random.Random, count: int) -> list[bytes]:
    """Records whose columns hold one pool after another."""
    columns = []
    for _ in range(3):
        cells: list[bytes] = []
        pools = rng.sample(POOLS, rng.randint(1, 3))
        for number, pool in enumerate(pools, 1):
            until = count if number == len(pools) else rng.randint(len(cells), count)
            cells += [rng.choice(pool) for _ in range(until - len(cells))]
        columns.append(cells)
    records = [b",".join(cells) + b"\n" for cells in zip(*columns, strict=True)]
    if rng.random() < 0.3 and records:
        records[rng.randrange(count)] = rng.choice([b"1,2\n", b"1,2,3,4\n", b'1,"2" x,3\n'])
    return records


class Cut:
    """Records in files, and the places in them that the whole text's report names."""

    def __init__(self, rng: random.Random, records: list[bytes]) -> None:
        cuts = sorted(rng.choices(range(len(records) + 1), k=rng.randint(0, 4)))
        self.bounds = list(pairwise([0, *cuts, len(records)]))
        self.sources = [HEADER + b"".join(records[begin:end]) for begin, end in self.bounds]
        self.whole = HEADER + b"".join(records)
        self.starts = [len(HEADER), *accumulate(map(len, records), initial=len(HEADER))][1:]

    def place(self, record: int, byte: int) -> tuple[str, int, int]:
        """File, record and byte there, of a record and a byte in the whole text."""
        number, begin = next((n, begin) for n, (begin, end) in enumerate(self.bounds) if begin < record <= end)
        return f"<source {number + 1}>", record - begin, byte - self.starts[begin] + len(HEADER)


def rows_of(table: Table) -> list[dict[str, Any]]:
    columns = table.to_pydict()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def evidence_of(table: Table) -> list[tuple[str | None, int, int, bytes] | None]:
    found = [column.evidence for column in table.report.columns]
    return [one and (one.file, one.record, one.byte, one.text) for one in found]


def check_error(error: ParseError, cut: Cut, options: dict[str, Any]) -> None:
    with pytest.raises(ParseError) as caught:
        read_csv(cut.sources, header=True, **options)
    found, place = caught.value, cut.place(error.record, error.byte)
    assert (found.source, found.record, found.byte) == place
    assert (found.column, found.kind, found.expected, found.text) == (error.column, error.kind, error.expected, error.text)
    assert found.line == found.record + 1
    assert str(found).startswith(place[0])


def check(cut: Cut, **options: Any) -> None:
    try:
        whole = read_csv(cut.whole, header=True, **options)
    except ParseError as error:
        check_error(error, cut, options)
        return
    table = read_csv(cut.sources, header=True, **options)
    table.report.check()
    assert dict(table.schema) == dict(whole.schema)
    for name in whole:
        assert raw_values(table[name]) == raw_values(whole[name])
        assert table[name].null_count == whole[name].null_count
    mapped = [one and (*cut.place(one[1], one[2]), one[3]) for one in evidence_of(whole)]
    assert evidence_of(table) == mapped
    expected = []
    for row in rows_of(whole.rejects):
        file, record, byte = cut.place(row["record"], row["byte"])
        _, _, line_byte = cut.place(row["record"], row["line_byte"])
        expected.append(row | {"file": file, "record": record, "byte": byte, "line": record + 1, "line_byte": line_byte})
    assert rows_of(table.rejects) == expected
    report = table.report
    assert (report.rows, report.rejected, report.faults) == (whole.report.rows, whole.report.rejected, whole.report.faults)
    assert report.skipped.header == len(cut.sources)


def options_of(rng: random.Random) -> dict[str, Any]:
    types = ["int8", "float64", "string", "large_string", "bool", "timestamp[us]", "decimal128(6, 1)", "binary", "null"]
    given = rng.sample([*types, "time32[s]"], 2)
    return {
        "on_error": rng.choice(["raise", "null", "reject"]),
        "shrink": rng.random() < 0.4,
        "dtypes": dict(zip(rng.sample("abc", rng.randint(0, 2)), given, strict=False)) or None,
        "null_values": rng.choice(["", ["", "1"]]),
        "context": Context(isa=rng.choice(_native.isas())),
        "threads": rng.randint(1, 3),
        "chunk_bytes": rng.choice([None, 7, 100]),
    }


@pytest.mark.parametrize("seed", seeds(600))
def test_cut_anywhere(seed: int) -> None:
    rng = random.Random(seed)
    cut = Cut(rng, make_records(rng, rng.choice([0, 1, 2, 5, 20, 70, 200])))
    check(cut, **options_of(rng))


@pytest.mark.parametrize("seed", seeds(8))
def test_types_that_turn_up_late(seed: int) -> None:
    """Values that change the type after the first records of a file, which determine its first guess."""
    rng = random.Random(seed)
    records = make_records(rng, 30_000)
    check(Cut(rng, records), on_error=("reject", "null")[seed % 2], shrink=seed % 3 == 0)


def test_a_value_that_does_not_fit_the_type_of_all_files() -> None:
    """1066 fits microseconds, which the first file needs, and not nanoseconds, which the second does."""
    rng = random.Random(1)
    cut = Cut(rng, [b"1,2,1066-10-14 09:00:00\n", b"1,2,2024-01-01 00:00:00.1234567\n", b"1,2,1066-10-14 09:00:00\n"])
    cut.bounds = [(0, 1), (1, 3)]
    cut.sources = [HEADER + cut.whole[cut.starts[0] : cut.starts[1]], HEADER + cut.whole[cut.starts[1] :]]
    check(cut)
    table = read_csv(cut.sources)
    assert str(table["c"].type) == "string"
    evidence = table.report.columns[2].evidence
    assert evidence is not None
    assert evidence.file == "<source 1>"


def test_bits_of_several_threads() -> None:
    """Parts of a bool column with nulls that begin within a word, each long enough for a thread of its own."""
    records = [b"true\n", b"false\n", b"x\n"] * 200_000
    cuts = [0, 250_001, 500_003, len(records)]
    sources = [b"".join(records[begin:end]) for begin, end in pairwise(cuts)]
    options: dict[str, Any] = {"header": False, "dtypes": "bool", "on_error": "null", "threads": 3}
    table, whole = read_csv(sources, **options), read_csv(b"".join(records), **options)
    assert raw_values(table["column_1"]) == raw_values(whole["column_1"])
    assert table["column_1"].null_count == 200_000
