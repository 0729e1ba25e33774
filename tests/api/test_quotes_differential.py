"""Quotes at any place: `read_csv` against Python's csv module, and the GPU's path under the fiber harness against the CPU's."""

from __future__ import annotations

import csv
import io
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace
from tests.columns.load.load_gpu_cases import OTHER_SHAPE, SHAPE, read_on_fibers, same_table
from tests.examples import examples

TOKENS = [",", '"', '"', '""', "a", "bc", '"d', 'e"', "\n", "\n", ',"', '",', '"\n', "x" * 70]
WAYS = [
    (isa, threads, size)
    for isa in headrace._native.isas()
    for threads, size in ((1, 1), (1, 3), (3, 7), (2, 64), (1, 100), (4, 4096))
]


def rows_of_csv(text: str) -> list[list[str]]:
    """Return the rows of Python's csv module: a quote opens a field only at its start, and text may follow a closing one."""
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


def read(text: str, isa: str = "", threads: int = 1, chunk_bytes: int | None = None, **options: Any) -> headrace.Table:
    return headrace.read_csv(
        text.encode(),
        header=False,
        infer_schema=False,
        null_values=(),
        on_error="reject",
        short_records="null",
        long_records="widen",
        chunk_bytes=chunk_bytes,
        context=headrace.Context(threads=threads, isa=isa),
        **options,
    )


def rows_of(table: headrace.Table) -> list[list[str | None]]:
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns.values()), strict=True)]


@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=120).map("".join), st.sampled_from(WAYS))
@settings(max_examples=examples(600), deadline=None, derandomize=True)
def test_as_pythons_csv_module_reads_it(text: str, way: tuple[str, int, int]) -> None:
    """All fields are equal, but those of records that are reported: text after a closing quote, quotes that never close."""
    wanted = rows_of_csv(text)
    if not wanted:
        return
    table = read(text, *way)
    table.report.check()
    rejected = {record - 1 for record in table.rejects["record"].to_pylist()}
    assert set(table.rejects["kind"].to_pylist()) <= {"quote", "unclosed_quote"}
    kept = [row for number, row in enumerate(wanted) if number not in rejected]
    width = len(table.columns)
    assert rows_of(table) == [[*row, *[None] * (width - len(row))] for row in kept]


@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=120).map("".join), st.sampled_from(WAYS))
@settings(max_examples=examples(200), deadline=None, derandomize=True)
def test_strict_quotes_report_more_and_read_the_same(text: str, way: tuple[str, int, int]) -> None:
    """Every record that has a quote in an unquoted field is rejected, and the others are as they are without the option."""
    if not rows_of_csv(text):
        return
    table, strict = read(text, *way), read(text, *way, strict_quotes=True)
    assert strict.report.records == table.report.records
    rejected = set(strict.rejects["record"].to_pylist())
    assert rejected >= set(table.rejects["record"].to_pylist())
    raw = {number: row for number, row in enumerate(rows_of_csv(text), 1) if number not in rejected}
    width = len(strict.columns)
    assert rows_of(strict) == [[*row, *[None] * (width - len(row))] for row in raw.values()]


def table_with_inches(rows: int, every: int, quoted: bool) -> str:
    text = '"a ""b"", c"' if quoted else "abc"
    lines = [f'{i},5" pipe {i},{text}' if every and i % every == 0 else f"{i},pipe {i},{text}" for i in range(rows)]
    return "id,name,text\n" + "\n".join(lines) + "\n"


@pytest.mark.covering(default=2)
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("every", [1, 25, 3001])
@pytest.mark.parametrize("threads", [1, 4])
def test_no_quote_swallows_what_follows(quoted: bool, every: int, threads: int) -> None:
    text = table_with_inches(6000, every, quoted)
    wanted = list(csv.reader(io.StringIO(text)))[1:]
    for chunk_bytes in (100, 4096, None):
        table = headrace.read_csv(text.encode(), chunk_bytes=chunk_bytes, context=headrace.Context(threads=threads))
        assert [list(row) for row in zip(*table.to_pydict().values(), strict=True)] == [[int(i), *rest] for i, *rest in wanted]
        assert table.report.rejected == 0 and len(table.rejects["kind"]) == 0
        batches = headrace.scan_csv(text.encode(), batch_bytes=20_000, context=headrace.Context(threads=threads))
        assert batches.read().to_pydict() == table.to_pydict()


def test_a_hundred_thousand_rows() -> None:
    rows = 100_000
    table = headrace.read_csv(b'size,name\n5" pipe,x\n' + b"3,y\n" * rows)
    assert table.num_rows == rows + 1 and table.report.rejected == 0
    assert headrace.sniff_csv(b'size,name\n5" pipe,x\n' + b"3,y\n" * rows).sep == ","


SHAPES = [SHAPE, OTHER_SHAPE]


@pytest.mark.long_except("0", "1", "4", "5", "8", "9")
@pytest.mark.fibers
@pytest.mark.parametrize("seed", range(12))
def test_on_a_gpu_as_on_the_cpu(seed: int) -> None:
    """Few and many quotes, in the first record or far after it, in texts with and without quoted fields."""
    rng = random.Random(seed)
    lines = table_with_inches(rng.choice([40, 300]), rng.choice([0, 3, 29]), bool(seed % 2)).splitlines()
    for _ in range(rng.choice([0, 1, 5])):
        at = rng.randrange(1, len(lines))
        lines[at] = rng.choice(['7,a"b,""', '8,"p\n""q"",r",a""', '9,"""",\'', '10,x"y"z,"a,b"', '11,"a"b,c', '12,",",5",6"'])
    data = ("\n".join(lines) + "\n").encode()
    options: dict[str, Any] = {"on_error": rng.choice(["reject", "null"]), "long_records": "truncate", "short_records": "null"}
    options |= {"strict_quotes": rng.random() < 0.3, "dtypes": {"id": "int64"} if rng.random() < 0.5 else {}}
    expected = headrace.read_csv(data, **options)
    found = read_on_fibers(data, skew=seed % 16, seed=seed, shape=SHAPES[seed // 2 % 2], **options)[0]
    same_table(found, expected)
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()


@pytest.mark.parametrize(
    ("text", "line", "byte", "lines", "first_line"),
    [
        (b'a,b\n1,"2\n3,4\n', 2, 6, "the 2 lines from line 2 on", '"2'),
        (b'a,b\n1,"2', 2, 6, "line 2", '"2'),
        (b'a,b\n"x\ny","2\r\n3,4\r\n\r\n5', 2, 10, "the 4 lines from line 3 on", '"2'),
        (b'a,b\n1,"' + b"z" * 100 + b"\n" * 7, 2, 6, "the 7 lines from line 2 on", '"' + "z" * 79),
    ],
)
def test_a_quoted_field_that_never_ends(text: bytes, line: int, byte: int, lines: str, first_line: str) -> None:
    expected = f"a closing quote in {lines}"
    with pytest.raises(headrace.ParseError, match=r"lenient_quotes=True.*quote_char=None") as caught:
        headrace.read_csv(text)
    error = caught.value
    assert (error.line, error.byte, error.expected, error.text) == (line, byte, expected, first_line)
    assert expected in str(error)
    rejects = headrace.read_csv(text, on_error="reject").rejects
    assert (rejects["byte"][0], rejects["expected"][0], rejects["field"][0]) == (byte, expected, first_line)
    table = headrace.read_csv(text, lenient_quotes=True, short_records="null")
    assert table.num_rows > 0


def test_a_quoted_field_behind_spaces_that_never_ends() -> None:
    with pytest.raises(headrace.ParseError) as caught:
        headrace.read_csv(b'a,b\n1,  "2\n', skip_initial_space=True)
    assert (caught.value.byte, caught.value.text) == (8, '"2')
