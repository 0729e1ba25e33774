"""Compares scans that convert other columns for chosen rows only with rules of their own, written on split lines."""

from __future__ import annotations

import datetime
import io
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import headrace
from headrace import Context, OptionError, ParseError, UnknownColumnError, col, scan_csv

NAMES = ("a", "b", "c")
CONDITIONS: dict[str, tuple[headrace.ColumnExpression, tuple[str, ...], Callable[..., bool]]] = {
    "few": (col("b") > 90, ("b",), lambda b: b > 90),
    "none": (col("a") < 0, ("a",), lambda a: a < 0),
    "all": (col("c") >= 0, ("c",), lambda c: c >= 0),
    "two columns": ((col("a") > 30) & (col("c") < 50), ("a", "c"), lambda a, c: a > 30 and c < 50),
}


def drawn(seed: str, records: int = 60) -> list[list[str]]:
    rng = random.Random(seed)
    values = [str(i) for i in range(100)] * 3 + ["x", "1e99"] * 8
    return [[rng.choice(values) for _ in range(rng.choice([3] * 12 + [1, 2, 4]))] for _ in range(records)]


@dataclass(slots=True)
class Expected:
    """Rows, faults as (record, column, kind), and numbers of records left out and of rows of short records."""

    rows: list[dict[str, object]] = field(default_factory=list)
    faults: list[tuple[int, str | None, str]] = field(default_factory=list)
    left_out: int = 0
    filled: int = 0


def expected(records: list[list[str]], name: str, on_error: str, short: str) -> Expected:
    _, needed, holds = CONDITIONS[name]
    result = Expected()
    for number, record in enumerate(records, 1):
        if len(record) > 3 or (len(record) < 3 and short == "reject"):
            result.faults.append((number, None, "too_many_fields" if len(record) > 3 else "too_few_fields"))
            continue
        fields = dict(zip(NAMES, [*record, "", ""], strict=False))
        row: dict[str, object] = {one: int(text) if text.isdigit() else None for one, text in fields.items()}
        wrong = [one for one in NAMES if fields[one] and row[one] is None]
        found = [(number, one, "type") for one in wrong if one in needed]
        result.faults += found
        if found and on_error == "reject":
            continue
        values = [row[one] for one in needed]
        if None in values or not holds(*values):
            result.left_out += 1
            continue
        others = [(number, one, "type") for one in wrong if one not in needed]
        result.faults += others
        if not others or on_error == "null":
            result.rows.append(row)
            result.filled += len(record) < 3
    result.faults.sort(key=lambda fault: (fault[0], fault[1] or ""))
    return result


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("on_error", ["null", "reject"])
@pytest.mark.parametrize("short", ["null", "reject"])
def test_rows_and_faults(name: str, on_error: str, short: str) -> None:
    records = drawn(f"{name} {on_error} {short}")
    text = "\n".join([",".join(NAMES), *map(",".join, records), ""]).encode()
    wanted = expected(records, name, on_error, short)
    for batch_bytes, threads in ((9, 1), (100, 2), (1 << 20, 1), (1 << 20, 3)):
        options = {"on_error": on_error, "short_records": short, "long_records": "reject", "dtypes": int}
        scan = scan_csv(text, batch_bytes=batch_bytes, context=Context(threads=threads), **options)
        found = scan.where(CONDITIONS[name][0], convert="chosen").read()
        assert found.to_dicts() == wanted.rows
        rejects = found.rejects.to_pydict()
        assert list(zip(rejects["record"], rejects["column"], rejects["kind"], strict=True)) == wanted.faults
        assert [line - 1 for line in rejects["line"]] == rejects["record"]
        found.report.check()
        report = found.report
        assert (report.skipped.where, report.faults, report.filled) == (wanted.left_out, len(wanted.faults), wanted.filled)


@pytest.mark.parametrize("infer", ["all", "first"])
def test_inferred_types_and_other_forms(infer: str) -> None:
    lines = [f'{i},"w,{i % 5}",{i % 7}{".5" if i > 9 else ""},2024-01-{1 + i % 28:02d}' for i in range(300)]
    text = "\n".join(["# note", "n,word,x,day", *lines, ""]).encode()
    for batch_bytes in (700, 1 << 20):
        for strings in ("plain", "view", "dictionary"):
            options = {"batch_bytes": batch_bytes, "infer": infer, "strings": strings, "comment_prefix": "#"}
            for condition in (col("word") == "w,3", col("day") > datetime.date(2024, 1, 20), col("n") < 0):
                whole, chosen = (scan_csv(text, **options).where(condition, convert=one) for one in ("all", "chosen"))
                assert chosen.read().to_pydict() == whole.read().to_pydict()
                assert chosen.schema == whole.schema
                assert chosen.report.skipped == whole.report.skipped
                found, expected = ([(one.type, one.evidence) for one in scan.report.columns] for scan in (chosen, whole))
                assert found == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "|"])
def test_records_of_many_tiles(end: str, tmp_path: Path) -> None:
    rows = [f'{i},"a ""b"" {end}{i % 9}",{i * 7 % 1000}.25,é{i % 11}' for i in range(20_000)]
    (tmp_path / "t.csv").write_bytes(end.join(["n,word,x,name", *rows]).encode())
    options = {"lineterminator": "|" if end == "|" else None, "context": Context(threads=3)}
    for source in (str(tmp_path / "t.csv"), (tmp_path / "t.csv").read_bytes()):
        for condition in (col("x") < 10, col("n") >= 19_999, col("x") < 600, col("name") == "é3"):
            for batch_bytes in (100_000, 1 << 22):
                scan = scan_csv(source, batch_bytes=batch_bytes, **options)
                assert scan.where(condition, convert="chosen").read().equals(scan.where(condition).read())


def test_other_encodings() -> None:
    text = "a,b\n" + "".join(f"{i},ö{i}\n" for i in range(200))
    for encoding in ("utf-16", "latin-1", "utf-8-sig"):
        scan = scan_csv(text.encode(encoding), encoding="utf-8" if "8-" in encoding else encoding)
        assert scan.where(col("a") == 17, convert="chosen").read().to_pydict() == {"a": [17], "b": ["ö17"]}


@pytest.mark.parametrize("first", [b"PAR1\x15", b"BZh91AY&SY", b'\x04"M\x18', "\ufeffx".encode(), b"\xff\xfea"])
def test_the_first_chosen_record_may_begin_like_another_format(first: bytes) -> None:
    options = {"dtypes": {"a": str, "b": int}, "encoding": "utf8-lossy", "quote_char": None, "short_records": "null"}
    scan = scan_csv(b"a,b\n" + b"x,0\n" * 9 + first + b",1\nyy,1\n", **options)
    whole, chosen = (scan.where(col("b") == 1, convert=one).read() for one in ("all", "chosen"))
    assert chosen.to_pydict() == whole.to_pydict()
    assert chosen.to_pydict()["b"] == [1, 1]


def test_sources_names_and_row_numbers(tmp_path: Path) -> None:
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, 2 * i) for i in range(50))
    (tmp_path / "one.csv").write_bytes(text)
    (tmp_path / "two.csv").write_bytes(b"b,c\n7,1\n100,2\n")
    condition = col("b") > 95
    for source in (text, io.BytesIO(text), str(tmp_path / "one.csv")):
        scan = scan_csv(source, batch_bytes=64, row_index_name="row").where(condition, convert="chosen")
        assert scan.read().to_pydict() == {"row": [48, 49], "a": [48, 49], "b": [96, 98]}
    scan = scan_csv(text, batch_bytes=64, row_index_name="row").where(col("row") == 3, convert="chosen").select("a")
    assert pickle.loads(pickle.dumps(scan)).read().to_pydict() == {"row": [3], "a": [3]}
    several = scan_csv([tmp_path / "one.csv", tmp_path / "two.csv"], union_by_name=True)
    found = several.where(condition, convert="chosen").read()
    assert found.to_pydict() == {"a": [48, 49, None], "b": [96, 98, 100], "c": [None, None, 2]}
    assert several.where(col("a").is_null(), convert="chosen").read().to_pydict() == {"a": [None] * 2, "b": [7, 100], "c": [1, 2]}


def test_a_record_that_is_rejected_is_not_kept_by_its_other_faults() -> None:
    text = b'a,b,c,d\n1,x"y,2,3\n1,z"w,q,3\n2,u"v,q,3\n1,u,q,v"w\n'
    options = {"lenient_quotes": True, "dtypes": {"a": int, "c": int}, "on_error": "reject"}
    whole = scan_csv(text, **options).read().rejects.to_pydict()
    chosen = scan_csv(text, **options).where(col("a") < 3, convert="chosen").read().rejects.to_pydict()
    assert chosen == whole
    left_out = scan_csv(text, **options).where(col("a") < 2, convert="chosen").read()
    assert left_out.rejects["kind"].to_pylist() == ["quote", "quote", "type", "quote", "quote", "type"]


def test_a_first_batch_of_faults_alone_decides_the_same_types() -> None:
    text = b"a,b\n1,2,3\n4,5,6\n1,7\n,8\n"
    for batch_bytes in (6, 12, 1 << 20):
        scan = scan_csv(text, batch_bytes=batch_bytes, infer="first", on_error="null", long_records="reject")
        whole, chosen = (scan.where(col("a").is_null(), convert=one) for one in ("all", "chosen"))
        assert chosen.schema == whole.schema
        assert chosen.read().to_pydict() == whole.read().to_pydict()


def test_evidence_is_that_of_the_whole_text() -> None:
    lines = [f"{i},{2**53 + 1 if i % 40 == 31 else i / 4}" for i in range(200)]
    text = "\n".join(["n,x", *lines, ""]).encode()
    for condition in (col("n") > 60, col("n") > 150):
        whole, chosen = (scan_csv(text, batch_bytes=500).where(condition, convert=one) for one in ("all", "chosen"))
        assert chosen.read().to_pydict() == whole.read().to_pydict()
        assert [one.evidence for one in chosen.report.columns] == [one.evidence for one in whole.report.columns]


def test_max_rejects_holds_for_both_loads() -> None:
    text = b"a,b\n" + b"x,1\n1,y\n" * 5
    scan = scan_csv(text, dtypes={"a": int, "b": int}, on_error="null", max_rejects=3)
    found = scan.where(col("a").is_null() | (col("a") == 1), convert="chosen").read()
    assert (found.rejects["record"].to_pylist(), found.report.faults) == ([1, 2, 3], 10)


def test_faults_of_rows_left_out_do_not_raise() -> None:
    text = b"a,b\n1,x\n2,3\n"
    scan = scan_csv(text, dtypes={"a": int, "b": int})
    assert scan.where(col("a") == 2, convert="chosen").read().to_pydict() == {"a": [2], "b": [3]}
    for wrong in (scan.where(col("a") == 2), scan.where(col("a") == 1, convert="chosen")):
        with pytest.raises(ParseError, match="line 2"):
            wrong.read()


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="convert"):
        scan_csv(b"a\n1\n").where(col("a") > 1, convert="few")  # type: ignore[arg-type]
    with pytest.raises(UnknownColumnError, match="unknown column 'q'"):
        scan_csv(b"a\n1\n").where(col("q") > 1, convert="chosen").read()
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "t.csv").write_bytes(b"a\n1\n")
    scan = scan_csv(str(tmp_path / "*" / "*.csv"), hive_partitioning=True)
    with pytest.raises(OptionError, match="'year' is from the paths"):
        scan.where(col("year") == 2024, convert="chosen").read()
    assert scan.where(col("a") == 1, convert="chosen").read().to_pydict() == {"a": [1], "year": [2024]}


def test_a_memory_limit_is_for_rows_that_are_held() -> None:
    """A batch holds a number and a row number of each record, 16 bytes. Nothing else of records left out is charged."""
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 100) for i in range(400_000))
    scan = scan_csv(text, batch_bytes=1 << 24, memory_limit=400_000 * 28, dtypes=int)
    batches = list(scan.where(col("b") == 7, convert="chosen").batches())
    assert [batch["a"].to_pylist() for batch in batches] == [list(range(7, 400_000, 100))]
