"""Ragged records, lenient quotes, rows left out, projection: against the oracle's cells and against whole reads."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import headrace
from headrace import Context, Dialect, ParseError, Table, _native
from headrace.testing.oracle import OracleRecord, field_text, split
from headrace.testing.strategies import lenient_dialects, texts
from tests.examples import examples

SETTINGS = settings(deadline=None, derandomize=True, max_examples=examples(200), suppress_health_check=list(HealthCheck))
CSV = Dialect()
CELLS = ["", "0", "7", "-12", "2.5", "x", '"q"', '""', '"a,b"', '"l\nm"', "é", "2024-02-29", "true"]

ways = st.tuples(st.sampled_from(_native.isas()), st.sampled_from([1, 3, 7, 64, 4096]), st.sampled_from([1, 2, 3]))
any_row, whole_row = (st.lists(st.sampled_from(CELLS), min_size=least, max_size=most) for least, most in [(1, 6), (3, 3)])
ragged = st.lists(any_row, max_size=30) | st.lists(st.one_of(any_row, whole_row, whole_row, whole_row), max_size=60)
shorts = st.sampled_from(["null", "reject", "error", None])
longs = st.sampled_from(["truncate", "collect", "widen", "reject", "error", None])


def text_of(rows: list[list[str]]) -> bytes:
    """Records under a header of three names; one that would be a blank line holds a quoted nothing."""
    lines = [",".join(row) or '""' for row in rows]
    return "\n".join(["a,b,c", *lines, ""]).encode()


def read(data: bytes, way: tuple[str, int, int], **options: Any) -> Table:
    isa, chunk, threads = way
    return headrace.read_csv(data, context=Context(isa=isa), chunk_bytes=chunk, threads=threads, **options)


def cells(data: bytes, record: OracleRecord, dialect: Dialect = CSV) -> list[str | None]:
    """Texts of a record's fields; None for an empty one without quotes."""
    found = [field_text(data, start, end, dialect) for start, end in record.fields]
    return [text.decode() if text or quoted else None for text, quoted in found]


def expected_rows(
    data: bytes, short: str | None, long: str | None
) -> tuple[list[list[str | None]], list[tuple[int, str, bool, int]]]:
    """Rows of a text under three names, and (record, kind, kept, byte) of its faults."""
    records = split(data, CSV).records[1:]
    width = max([3, *(len(record.fields) for record in records)]) if long == "widen" else 3
    rows, faults = [], []
    for number, record in enumerate(records, 1):
        row, fields = cells(data, record), record.fields
        if len(row) < 3 and short != "null":
            faults.append((number, "too_few_fields", False, record.end))
            continue
        if len(row) > width and long != "collect":
            faults.append((number, "too_many_fields", long == "truncate", fields[width][0]))
            if long != "truncate":
                continue
        kept = row[:width] + [None] * (width - len(row))
        if long == "collect":
            kept.append(data[fields[width][0] : record.end].decode() if len(fields) > width else None)
        rows.append(kept)
    return rows, faults


def policies(short: str | None, long: str | None) -> dict[str, str | None]:
    return {"short_records": short, "long_records": long}


@given(ragged, shorts, longs, ways)
@SETTINGS
def test_ragged_records(rows: list[list[str]], short: str | None, long: str | None, way: tuple[str, int, int]) -> None:
    data = text_of(rows)
    wanted, faults = expected_rows(data, short, long)
    options = policies(short, long) | {"infer_schema": False, "on_error": "reject"}
    raised = [fault for fault in faults if (short if fault[1] == "too_few_fields" else long) == "error"]
    if raised:
        with pytest.raises(ParseError) as caught:
            read(data, way, **options)
        assert (caught.value.record, caught.value.kind, caught.value.byte) == (raised[0][0], raised[0][1], raised[0][3])
        return
    table = read(data, way, **options)
    assert [list(row) for row in zip(*(column.to_pylist() for column in table.columns.values()), strict=True)] == wanted
    rejects = table.rejects.to_pydict()
    assert list(zip(rejects["record"], rejects["kind"], rejects["kept"], rejects["byte"], strict=True)) == faults
    table.report.check()
    short_rows = sum(len(record.fields) < 3 for record in split(data, CSV).records[1:])
    assert table.report.filled == (short_rows if short == "null" else 0)
    names = ["a", "b", "c"] + (["extra_fields"] if long == "collect" else [])
    assert table.column_names[: len(names)] == names


@pytest.mark.parametrize(
    "options", [{}, {"sep": "//"}, {"lineterminator": "\r\n"}, {"lineterminator": ";;"}, {"comment": "#"}], ids=str
)
@pytest.mark.parametrize("long", ["truncate", "widen"])
def test_few_ragged_records(options: dict[str, str], long: str) -> None:
    """Each tile has runs of records of the usual width, between others, blank lines and comments."""
    sep, end = options.get("sep", ","), options.get("lineterminator", "\n")
    widths = [2 if i % 17 == 3 else 4 if i % 29 == 5 else 3 for i in range(500)]
    rows = [[f"{i}.{c}" for c in range(width)] for i, width in enumerate(widths)]
    between = {11: end, 40: end + "#no record" + end if "comment" in options else end}
    text = sep.join("abc") + end + "".join(sep.join(row) + end + between.get(i % 50, "") for i, row in enumerate(rows))
    width = 4 if long == "widen" else 3
    wanted = [(row + [None] * width)[:width] for row in rows]
    for way in [("scalar", 1 << 18, 1), (_native.isas()[-1], 700, 3)]:
        table = read(text.encode(), way, **policies("null", long), **options, dtypes="string", on_error="reject")
        assert [list(row) for row in zip(*(column.to_pylist() for column in table.columns.values()), strict=True)] == wanted
        assert table.report.filled == widths.count(2)
        assert table.rejects.num_rows == (0 if long == "widen" else widths.count(4))


@given(ragged, st.sampled_from(["truncate", "collect", "widen"]), ways)
@SETTINGS
def test_types_and_evidence_of_ragged_records(rows: list[list[str]], long: str, way: tuple[str, int, int]) -> None:
    """The same as those of complete rows, with a word for each cell that a record lacks."""
    assume(rows and [""] not in rows)
    data = text_of(rows)
    table = read(data, way, **policies("null", long), null_values=["NIL"])
    width = max(3, *map(len, rows)) if long == "widen" else 3
    whole = [[*row, *["NIL"] * width][:width] for row in rows]
    header = ",".join(table.column_names[:width])
    regular = read(text_of(whole).replace(b"a,b,c", header.encode(), 1), way, null_values=["NIL"])
    columns = table.column_names[:width]
    assert [table[name].to_pylist() for name in columns] == [regular[name].to_pylist() for name in columns]
    assert [table.schema[name] for name in columns] == [regular.schema[name] for name in columns]
    found = [report.evidence for report in islice(table.report.columns, width)]
    wanted = [report.evidence for report in regular.report.columns]
    assert [e and (e.record, e.text) for e in found] == [e and (e.record, e.text) for e in wanted]


@st.composite
def lenient_texts(draw: st.DrawFn) -> tuple[Dialect, bytes]:
    dialect = draw(st.just(Dialect(lenient_quotes=True)) | lenient_dialects())
    return dialect, draw(texts(dialect, max_tokens=draw(st.sampled_from([8, 80]))))


def dialect_options(dialect: Dialect) -> dict[str, Any]:
    return {
        "sep": dialect.sep, "quote_char": dialect.quote_char, "double_quote": dialect.double_quote,
        "escape_char": dialect.escape_char, "escape_sequences": dialect.escape_sequences,
        "comment": dialect.comment, "strict_quotes": dialect.strict_quotes,
        "lineterminator": dialect.lineterminator, "skip_initial_space": dialect.skip_initial_space, "strip": dialect.strip,
        "skip_blank_lines": dialect.skip_blank_lines, "lenient_quotes": dialect.lenient_quotes,
    }  # fmt: skip


@given(lenient_texts(), ways)
@SETTINGS
def test_lenient_quotes(case: tuple[Dialect, bytes], way: tuple[str, int, int]) -> None:
    dialect, data = case
    records = [record for record in split(data, dialect).records if not record.comment]
    try:
        wanted = [cells(data, record, dialect) for record in records]
    except UnicodeDecodeError:
        assume(False)
    assume(records and not data.startswith(b"\xef\xbb\xbf"))
    width = max(map(len, wanted))
    table = read(
        data, way, **dialect_options(dialect), header=False, names=[f"c{i}" for i in range(len(wanted[0]))],
        infer_schema=False, short_records="null", long_records="widen",
    )  # fmt: skip
    rows = [list(row) for row in zip(*(column.to_pylist() for column in table.columns.values()), strict=True)]
    assert rows == [row + [None] * (width - len(row)) for row in wanted]
    rejects = table.rejects.to_pydict()
    found = list(zip(rejects["record"], rejects["kind"], rejects["kept"], rejects["byte"], strict=True))
    assert found == [(n, "quote", True, min(r.strays)) for n, r in enumerate(records, 1) if r.strays]


@given(ragged, st.integers(0, 4), st.integers(0, 4), st.integers(0, 6), st.none() | st.integers(0, 8), ways)
@SETTINGS
def test_rows_left_out(
    rows: list[list[str]], lines: int, behind: int, footer: int, limit: int | None, way: tuple[str, int, int]
) -> None:
    data = text_of(rows)
    options = policies("null", "truncate") | {"infer_schema": False}
    whole = read(data, way, **options)
    preamble = b'a stray " quote\r\n\n' if lines == 2 else b"note\n" * lines
    table = read(
        preamble + data, way, **options, skip_rows=lines, skip_rows_after_header=behind, skip_footer=footer, n_rows=limit,
        row_index_name="#", row_index_offset=5,
    )  # fmt: skip
    last = max(len(rows) - footer, min(behind, len(rows)))
    stop = last if limit is None else min(last, behind + limit)
    kept = whole[min(behind, stop) : stop]
    assert {name: table[name].to_pylist() for name in whole.column_names} == kept.to_pydict()
    assert table["#"].to_pylist() == list(range(5, 5 + len(kept)))
    table.report.check()
    skipped = table.report.skipped
    assert (skipped.header, skipped.preamble, skipped.rows) == (1, lines, min(behind, len(rows)))
    assert skipped.footer == len(rows) - last
    assert (table.report.unread_bytes > 0) == (stop < last)


@given(ragged, st.permutations(["a", "b", "c"]), st.integers(0, 3), ways)
@SETTINGS
def test_projection(rows: list[list[str]], names: list[str], count: int, way: tuple[str, int, int]) -> None:
    data = text_of(rows)
    options = policies("null", "truncate")
    whole, table = read(data, way, **options), read(data, way, **options, columns=names[:count])
    assert table.column_names == names[:count]
    assert table.to_pydict() == {name: whole[name].to_pylist() for name in names[:count]}
    assert table.report.rows == whole.report.rows
    assert table.rejects.to_pydict() == whole.rejects.to_pydict()


@given(st.lists(st.sampled_from([b"1,x\n", b"b,y\n", b"3,z,9\n", b"4\n"]), max_size=40), ways)
@SETTINGS
def test_row_index_of_rejected_records(lines: list[bytes], way: tuple[str, int, int]) -> None:
    table = read(b"n,t\n" + b"".join(lines), way, dtypes={"n": "int64"}, on_error="reject", row_index_name="i")
    assert table["i"].to_pylist() == [i for i, line in enumerate(lines) if line == b"1,x\n"]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"|"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("size", [60 << 10, 300 << 10])
def test_records_of_more_and_less_than_64_kb_after_the_first_one(line_end: bytes, header: bool, size: int) -> None:
    """Longer ones are read in larger tiles."""
    texts = [bytes([65 + i % 26]) * (size + 1_000 * (i % 7)) for i in range(24)]
    lines = [b"a,b"] * header + [b"%d,%s" % (i, text) for i, text in enumerate(texts)]
    terminator = None if line_end != b"|" else "|"
    found = headrace.read_csv(line_end.join(lines) + line_end, header=header, lineterminator=terminator, threads=2)
    assert [column.to_pylist() for column in found.columns.values()] == [list(range(24)), [text.decode() for text in texts]]
