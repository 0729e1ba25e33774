"""Names that are given decide the width of records; faults of the header are faults like others."""

from __future__ import annotations

from typing import Any

import pytest

import headrace
from headrace import OptionError, ParseError, Table, read_csv, scan_csv
from tests.columns.faults.load_gpu_faults_cases import check


def everywhere(data: bytes, **options: Any) -> Table:
    """A table, the same from every reader."""
    table = read_csv(data, **options)
    table.report.check()
    for size in 1, 1 << 20:
        scan = scan_csv(data, batch_bytes=size, **options)
        found = scan.read()
        assert found.to_pydict() == table.to_pydict()
        assert found.rejects.to_pydict() == table.rejects.to_pydict()
        assert (scan.report.faults, scan.report.records) == (table.report.faults, table.report.records)
    several = read_csv([data, data], **options)
    several.report.check()
    assert several.to_pydict() == {name: 2 * column.to_pylist() for name, column in table.columns.items()}
    assert several.rejects["record"].to_pylist() == (2 * table.rejects["record"].to_pylist() if table.report.faults else [])
    return table


NAMES: list[dict[str, Any]] = [
    {"names": ["a", "b"]},
    {"schema": {"a": "int64", "b": "int64"}},
    {"schema": ["int64", "int64"]},
]


@pytest.mark.parametrize("given", NAMES, ids=["names", "schema", "types"])
def test_the_first_record_is_a_record_like_any_other(given: dict[str, Any]) -> None:
    values = [
        column.to_pylist() for column in everywhere(b"1\n4,5\n", header=False, short_records="null", **given).columns.values()
    ]
    assert values == [[1, 4], [None, 5]]
    long = everywhere(b"1,2,3\n4,5\n", header=False, long_records="truncate", **given)
    assert [column.to_pylist() for column in long.columns.values()] == [[1, 4], [2, 5]]
    wide = everywhere(b"1,2,3\n4,5\n", header=False, long_records="widen", **given)
    assert wide["column_3"].to_pylist() == [3, None]
    rejected = everywhere(b"1\n4,5\n", header=False, on_error="reject", **given)
    assert (rejected.num_rows, rejected.rejects["kind"].to_pylist()) == (1, ["too_few_fields"])
    with pytest.raises(ParseError, match=r"record 1.*too few fields"):
        read_csv(b"1\n4,5\n", header=False, **given)


@pytest.mark.parametrize("given", NAMES, ids=["names", "schema", "types"])
def test_a_record_that_is_left_out_may_have_any_width(given: dict[str, Any]) -> None:
    table = everywhere(b"x\n4,5\n", header=False, skip_rows_after_header=1, **given)
    assert [column.to_pylist() for column in table.columns.values()] == [[4], [5]]


def test_a_header_in_place_of_which_names_are_given() -> None:
    assert everywhere(b"x,y,z\n4,5\n", header=True, names=["a", "b"]).to_pydict() == {"a": [4], "b": [5]}
    with pytest.raises(OptionError, match="schema lacks column 'z'"):
        read_csv(b"x,y,z\n4,5,6\n", header=True, schema={"x": int, "y": int})


@pytest.mark.parametrize(
    ("data", "kind", "at"),
    [
        (b'"a,c\n1,2\n3,4\n', "unclosed_quote", 0),
        (b'"a"b,c\n1,2\n3,4\n', "quote", 3),
        (b"\xe4,b\n1,2\n", "encoding", 0),
        (b"a,b\xff\n1,2\n", "encoding", 3),
    ],
)
def test_faults_of_the_header(data: bytes, kind: str, at: int) -> None:
    with pytest.raises(ParseError) as caught:
        read_csv(data)
    assert (caught.value.record, caught.value.line, caught.value.kind, caught.value.byte) == (0, 1, kind, at)
    with pytest.raises(ParseError, match=r"<source|<bytes"):
        read_csv([data, data])
    for policy in "null", "reject":
        assert f"on_error='null' or '{policy}'" in str(caught.value) or policy == "null"
        table = everywhere(data, on_error=policy)
        faults = {name: table.rejects[name].to_pylist() for name in ("record", "kept", "line", "byte", "kind")}
        assert faults == {"record": [0], "kept": [True], "line": [1], "byte": [at], "kind": [kind]}
        assert (table.report.faults, table.report.rejected, table.report.skipped.header) == (1, 0, 1)


def test_a_scan_of_one_source_has_the_error_of_a_read() -> None:
    for data in (b"a,\xff\n1,2\n", b'a,"b\n'):
        with pytest.raises(ParseError) as of_read:
            read_csv(data)
        with pytest.raises(ParseError) as of_scan:
            scan_csv(data).read()
        assert str(of_scan.value) == str(of_read.value)
        with pytest.raises(ParseError, match=r"^<source 2>: header"):
            scan_csv([b"a,b\n1,2\n", data]).read()


def test_faults_of_the_header_come_before_those_of_records() -> None:
    table = everywhere(b'"a"b,c\n1,2\n3,x\n', on_error="reject", dtypes={1: "int64"})
    assert table.rejects["record"].to_pylist() == [0, 2]
    assert (table.report.faults, table.report.rejected) == (2, 1)


def test_the_ways_out_that_the_messages_name() -> None:
    assert read_csv(b'"a,c\n1,2\n3,4\n', lenient_quotes=True).to_pydict() == {'"a': [1, 3], "c": [2, 4]}
    assert read_csv(b"\xe4,b\n1,2\n", encoding="latin-1").column_names == ["ä", "b"]
    assert read_csv(b"\xe4,b\n1,2\n", names=["a", "b"], header=True).to_pydict() == {"a": [1], "b": [2]}
    mended = everywhere(b"\xe4,b\n1,2\n", encoding_errors="replace")
    assert (mended.column_names, mended.report.faults) == (["\ufffd", "b"], 0)
    assert "not UTF-8" in next(iter(mended.report.renamed))


def test_undecodable_names_in_other_encodings() -> None:
    text = "é,b\n1,2\n".encode("utf-16-le")
    lone = b"\x3d\xd8" + text[2:]
    with pytest.raises(ParseError) as caught:
        read_csv(lone, encoding="utf-16-le")
    assert (caught.value.kind, caught.value.byte, caught.value.record) == ("encoding", 0, 0)
    assert read_csv(lone, encoding="utf-16-le", encoding_errors="replace").column_names[1] == "b"


def test_sniffing_does_not_raise() -> None:
    assert headrace.sniff_csv(b"\xe4,b\n1,2\n").sep == ","
    assert read_csv(b"\xe4;b\n1;2\n", dialect="auto", on_error="reject").report.faults == 1


@pytest.mark.covering(default=1)
@pytest.mark.fibers
@pytest.mark.parametrize("policy", ["null", "reject"])
@pytest.mark.parametrize("given", [NAMES[0], NAMES[2]], ids=["names", "types"])
def test_kernels_take_the_first_record_like_any_other(given: dict[str, Any], policy: str) -> None:
    for options in ({}, {"short_records": "null", "long_records": "truncate"}, {"long_records": "widen"}):
        check(b"1\n4,5\n", header=False, on_error=policy, **options, **given)
        check(b"1,2,3\n4,5\n", header=False, on_error=policy, **options, **given)
    check(b"x\n4,5\n", header=False, skip_rows_after_header=1, on_error=policy, **given)


@pytest.mark.fibers
@pytest.mark.parametrize("policy", ["raise", "reject"])
@pytest.mark.parametrize("header", [b'"a,c\n', b'"a"b,c\n', b"\xe4,b\n"])
def test_kernels_below_a_faulty_header(header: bytes, policy: str) -> None:
    check(header + b"1,2\nx,3\n", header=True, on_error=policy, dtypes={0: "int64"})
