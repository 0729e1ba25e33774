"""Compares scans that search the bytes of records with reads of texts from which the other records were removed.

The oracle finds records by `testing/oracle.py`, byte by byte, and hits by ``in``. Kept records are read as a text of their own.
Positions are those that the oracle found in the whole text.
"""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace import Context, Pattern, PatternSet, RecordCondition, read_csv, record_contains, scan_csv
from headrace.structure.dialect import Dialect
from headrace.testing.oracle import split
from tests.isas import EACH_ISA
from tests.tiers import seeds

Holds = Callable[[bytes], bool]
HEADER = b"a,b,c\n"
OPTIONS: dict[str, Any] = {"on_error": "reject", "short_records": "null", "row_index_name": "number"}


@dataclass(frozen=True)
class Case:
    """A condition, and the same as a function of a record's bytes."""

    where: RecordCondition
    holds: Holds


CASES = {
    "byte": Case(record_contains("7"), lambda record: b"7" in record),
    "across fields": Case(record_contains(b"x,"), lambda record: b"x," in record),
    "line end": Case(record_contains("x\ny"), lambda record: b"x\ny" in record),
    "case": Case(record_contains("Xy", ignore_case=True), lambda record: b"xy" in record.lower()),
    "inverted": Case(~record_contains("x"), lambda record: b"x" not in record),
    "two": Case(record_contains("1x", "yy"), lambda record: b"1x" in record or b"yy" in record),
    "pattern": Case(record_contains(Pattern(b"y,")), lambda record: b"y," in record),
    "many": Case(
        record_contains(PatternSet([b"%d7" % i for i in range(20)])), lambda record: any(b"%d7" % i in record for i in range(20))
    ),
    "not many": Case(
        ~record_contains(PatternSet([b"%dx" % i for i in range(9)])),
        lambda record: all(b"%dx" % i not in record for i in range(9)),
    ),
    "never": Case(record_contains("zebra"), lambda record: b"zebra" in record),
}
DIALECTS: dict[str, dict[str, Any]] = {
    "default": {},
    "no quotes": {"quote_char": None},
    "comments": {"comment": "#"},
    "blank lines": {"skip_blank_lines": False},
    "escapes": {"escape_char": "\\"},
    "strict": {"strict_quotes": True},
    "semicolons end": {"lineterminator": ";"},
}


def drawn(rng: random.Random, end: bytes, size: int = 200) -> bytes:
    """Return a text of fields that are often quoted, with line ends of several kinds."""
    pieces = [b"x", b"y", b"7", b"17", b"1x", b",", b",", b'"', b'"x\ny"', b'""', b"#", b"\\", b"\r", b"\r\n", end, end, end]
    return HEADER.replace(b"\n", end) + b"".join(rng.choices(pieces, k=size))


@dataclass(frozen=True)
class Kept:
    """The header and the records that a condition keeps, as a text, and where they are."""

    text: bytes
    numbers: list[int]  # of the records in the whole text, from 0 on
    begins: list[int]  # of the records in the whole text
    own_begins: list[int]  # of the records in `text`
    left_out: int


def kept_of(text: bytes, dialect: dict[str, Any], holds: Holds, end: bytes) -> Kept:
    rules = Dialect(**{name: value.encode() if isinstance(value, str) else value for name, value in dialect.items()})
    records = [record for record in split(text, rules).records if not record.comment][1:]
    kept = [i for i, record in enumerate(records) if holds(text[record.start : record.end])]
    whole, own_begins = HEADER[:-1], []
    for i in kept:
        whole += end
        own_begins.append(len(whole))
        whole += text[records[i].start : records[i].end]
    if not (kept and records[kept[-1]].end == len(text)):
        whole += end
    return Kept(whole, kept, [records[i].start for i in kept], own_begins, len(records) - len(kept))


def check(text: bytes, dialect: dict[str, Any], case: Case, end: bytes, runs: list[dict[str, Any]]) -> None:
    """Compare scans, each with more options, with a read of the kept records."""
    kept = kept_of(text, dialect, case.holds, end)
    options = {**OPTIONS, **dialect, "header": True}
    expected = read_csv(kept.text, **options)
    rows = expected.to_pydict()
    rows["number"] = [kept.numbers[i] for i in rows["number"]]
    for more in runs:
        scan = scan_csv(text, **options, where=case.where, **more)
        batches = list(scan.batches())
        for report in (scan.report, *(batch.report for batch in batches)):
            report.check()
        assert {name: [value for batch in batches for value in batch[name].to_pylist()] for name in expected} == rows
        assert dict(scan.schema) == dict(expected.schema)
        assert scan.report.skipped.where == kept.left_out
        found = [row for batch in batches for row in batch.rejects.to_pylist()]
        for row, wanted in zip(found, expected.rejects.to_pylist(), strict=True):
            place = wanted["record"] - 1
            moved = kept.begins[place] - kept.own_begins[place]
            line_byte = wanted["line_byte"] + moved
            own = {"record": kept.numbers[place] + 1, "byte": wanted["byte"] + moved, "line_byte": line_byte}
            own["expected"] = row["expected"]  # it may name another line
            assert row == {**wanted, **own, "line": 1 + line_ends(text[:line_byte])}


def line_ends(before: bytes) -> int:
    return len(before.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")) - 1


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.covering(default=1)
def test_the_rest_is_a_read_of_the_kept_records(dialect: str, case: str) -> None:
    rng = random.Random(f"{dialect} {case}")
    end = b";" if dialect == "semicolons end" else b"\n"
    for size in (0, 1, 5, 40, 200):
        text = drawn(rng, end, size)
        check(text, DIALECTS[dialect], CASES[case], end, [{"batch_bytes": size} for size in (1, 2, 3, 7, 64, 1 << 20)])


@pytest.mark.parametrize("seed", seeds(30))
def test_drawn_texts(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(8):
        dialect = rng.choice([name for name in DIALECTS if name != "semicolons end"])
        text = drawn(rng, rng.choice([b"\n", b"\r\n", b"\r"]), rng.randrange(400))
        case, batch_bytes = CASES[rng.choice(list(CASES))], rng.randrange(1, len(text) + 9)
        check(text, DIALECTS[dialect], case, b"\n", [{"batch_bytes": batch_bytes}])


def rare(rng: random.Random, end: bytes, spoiled: dict[int, bytes]) -> bytes:
    """Return a text of five tiles, of which the first and the last have hits."""
    lines = [b"%d,%40d,%d.5" % (rng.randrange(1000), i, i % 8) for i in range(18_000)]
    for i in (*rng.sample(range(1000), 5), *rng.sample(range(17_000, 18_000), 5)):
        lines[i] = rng.choice([b"needle,1,2", b"1,needle", b'1,"needle\n2",3', b"needle,1,2,3"])
    for i, line in spoiled.items():
        lines[i] = line
    return HEADER[:-1] + end + end.join(lines) + end


SPOILED = {
    "plain": {},
    "blank lines": {9: b"", 12_000: b""},
    "quotes": {8_000: b'"a\n\n\nneed",1,2', 13_000: b'"'},
    "return": {777: b"a\rb"},
}
NEEDLE = Case(record_contains("needle"), lambda record: b"needle" in record)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("spoiled", SPOILED)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.covering(default=1)
def test_tiles_without_a_hit(end: bytes, spoiled: str, isa: str) -> None:
    text = rare(random.Random(f"{end!r}{spoiled}"), end, SPOILED[spoiled])
    contexts = [Context(threads=threads, isa=isa) for threads in (3, 2)]
    sizes = (1 << 26, 900_001)
    runs = [{"context": context, "batch_bytes": size} for context, size in zip(contexts, sizes, strict=True)]
    check(text, {}, NEEDLE, end, runs)


@pytest.mark.parametrize("seed", seeds(5))
def test_lenient_quotes_are_those_of_the_whole_text(seed: int) -> None:
    rng = random.Random(seed)
    text, dialect = drawn(rng, b"\n", 300), {"lenient_quotes": True}
    options = {**OPTIONS, **dialect, "header": True, "dtypes": "string"}
    for case in CASES.values():
        kept = set(kept_of(text, dialect, case.holds, b"\n").numbers)
        expected = [row for row in read_csv(text, **options).to_pylist() if row["number"] in kept]
        assert scan_csv(text, **options, where=case.where, batch_bytes=rng.randrange(1, 400)).read().to_pylist() == expected


def test_types_given_and_inferred_are_those_of_kept_records() -> None:
    text = b"a,b\n1,keep\nx,drop\n2,keep\n"
    assert scan_csv(text, where=record_contains("keep")).read().to_pydict() == {"a": [1, 2], "b": ["keep", "keep"]}
    assert scan_csv(text, where=record_contains("keep"), dtypes={"a": int}).read().report.faults == 0
    assert scan_csv(text, where=record_contains("keep"), infer="first", batch_bytes=3).schema["a"] == "int64"
    assert scan_csv(b"a,b\n1\n2,3\n", where=record_contains("3"), on_error="raise").read().to_pydict() == {"a": [2], "b": [3]}


@pytest.mark.parametrize("batch_bytes", [1, 9, 1 << 20])
def test_with_conditions_on_columns(batch_bytes: int) -> None:
    text = b"a,b,c\n" + b"".join(b"%d,%s,%d\n" % (i, [b"x", b"yx", b"z"][i % 3], i % 7) for i in range(60))
    wanted = [i for i in range(60) if i % 3 != 2 and i % 7 > 2]
    for convert in ("all", "chosen"):
        scan = scan_csv(text, where=record_contains("x"), batch_bytes=batch_bytes)
        scan = scan.where(headrace.col("c") > 2, convert=convert)  # type: ignore[arg-type]
        assert scan.read()["a"].to_pylist() == wanted
        scan.report.check()
        assert scan.report.skipped.where == 60 - len(wanted)


def test_other_sources(tmp_path: Path) -> None:
    text = b"a,b\n" + b"".join(b"%d,%s\n" % (i, "näh".encode() if i % 5 == 0 else b"weit") for i in range(300))
    wanted = list(range(0, 300, 5))
    (tmp_path / "a.csv").write_bytes(text)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text))
    where = record_contains("näh")
    utf_16 = text.decode().encode("utf-16")
    for source in (tmp_path / "a.csv", tmp_path / "b.csv.gz", io.BytesIO(text), utf_16):
        scan = scan_csv(source, where=where, batch_bytes=97)
        assert scan.read()["a"].to_pylist() == wanted
        scan.report.check()
    both = scan_csv(str(tmp_path / "*.csv*"), where=where, batch_bytes=1000)
    assert both.read()["a"].to_pylist() == wanted * 2
    both.report.check()


@pytest.mark.parametrize("batch_bytes", [1_048_576, 1_048_976, 1_050_000, 1_050_576])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_batches_end_at_ends_of_dropped_records(batch_bytes: int, end: bytes) -> None:
    """A dropped record may begin in one tile and reach over the whole next one, which is the last of its part."""
    lines = [b"%d,%s" % (i, b"xx" if i in (1300, 1700) else b"y" * 3000) for i in range(2000)]
    text = b"a,b" + end + end.join(lines) + end
    for source in (text, gzip.compress(text, 1)):
        scan = scan_csv(source, header=True, where=record_contains("xx"), batch_bytes=batch_bytes)
        ends = [batch.report.end for batch in scan.batches()]
        for at in ends:
            assert at is not None and text[at.byte - len(end) : at.byte] == end
            assert at.record == text[: at.byte].count(end) - 1
        assert ends[-1].byte == len(text)
        scan.report.check()
        few = scan_csv(source, header=True, where=record_contains("xx"), n_rows=1301, batch_bytes=batch_bytes)
        assert few.read()["a"].to_pylist() == [1300]
        assert few.report.skipped.where == 1300


def test_records_of_the_text_are_counted() -> None:
    text = b"a\n1\n21\n2\n1\n"
    assert scan_csv(text, where=record_contains("1"), n_rows=3).read()["a"].to_pylist() == [1, 21]
    assert scan_csv(text, where=record_contains("1"), skip_footer=1, batch_bytes=2).read()["a"].to_pylist() == [1, 21]
    scan = scan_csv(text, where=record_contains("1"), batch_bytes=2)
    first = next(iter(scan.batches()))
    rest = scan_csv(text, where=record_contains("1"), resume=first.report.end)
    assert first["a"].to_pylist() + rest.read()["a"].to_pylist() == [1, 21, 1]
