"""Tests the type that a column gets from its texts, and the reason in the report."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, permutations

import pytest

from headrace import Context, Table, _native, read_csv
from headrace.testing.compare import assert_same_table, raw_values
from headrace.testing.reference import ReferenceOptions
from headrace.testing.reference import read as read_reference
from headrace.testing.values import Kind, Words, classify, join, type_of_kind
from tests.columns.infer.infer_cases import SAMPLES
from tests.isas import EACH_ISA

SAMPLE_BYTES = 256 << 10
"""Size of the part of a text that is inspected before the conversion."""


def read(data: bytes, **options: object) -> Table:
    table = read_csv(data, header=True, **options)  # type: ignore[arg-type]
    table.report.check()
    return table


def column(*texts: bytes) -> bytes:
    """Texts in a column beside one of numbers, so that an empty one is no blank line."""
    return b"a,b\n" + b"".join(text + b",1\n" for text in texts)


def inferred(*texts: bytes, **options: object) -> str:
    return str(read(column(*texts), **options)["a"].type)


def test_samples_are_of_their_kinds() -> None:
    assert {kind: classify(text, Words()) for kind, text in SAMPLES.items() if text} == {k: k for k, t in SAMPLES.items() if t}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ("0 1 -1", "int64"),
        ("-0 9223372036854775807", "int64"),
        ("9223372036854775808 0", "uint64"),
        ("9223372036854775808 -1", "string"),
        ("9223372036854775808 -1 .5", "string"),
        ("9223372036854775808 .5", "string"),
        (".5 9223372036854775808", "string"),
        ("9223372036854775807 .5", "float64"),
        ("18446744073709551616", "string"),
        ("18446744073709551616 .5", "string"),
        (".5 18446744073709551616", "string"),
        ("-9223372036854775809 .5", "string"),
        ("12345678901234567890123 1.5", "string"),
        ("99999999999999999999999999", "string"),
        ("1 2.5", "float64"),
        ("1e3", "float64"),
        ("nan", "float64"),
        ("0x1F 0xff", "int64"),
        ("0xFFFFFFFFFFFFFFFF 0x0", "uint64"),
        ("0x10000000000000000 0x0", "string"),
        ("0x1F 31", "string"),
        ("31 0x1F", "string"),
        ("-0x1F", "string"),
        ("0x1F 1.5", "string"),
        ("12:30:15 23:59:59.5", "time64[us]"),
        ("12:30:15 23:59:59.1234567", "time64[ns]"),
        ("12:30", "time64[us]"),
        ("12:30:15 12:30", "time64[us]"),
        ("9:30", "string"),
        ("12:30 24:00", "string"),
        ("24:00:00", "string"),
        ("12:30:15 2024-02-29", "string"),
        ("P1D PT0.5S", "duration[us]"),
        ("P1D PT0.1234567S", "duration[ns]"),
        ("P200000D PT0.1234567S", "string"),
        ("P1M", "string"),
        ("PT26H 26:00:00", "string"),
        ("PT26H 12:30:15", "string"),
        ("12:30:15 PT26H", "string"),
        ("-inf 1", "float64"),
        ("+1", "int64"),
        ("+1 -2 3", "int64"),
        ("+1 18446744073709551615", "uint64"),
        ("+1.5 +2", "float64"),
        ("+999999", "int64"),
        ("+1000000", "string"),
        ("+1234567.5", "string"),
        ("+05", "string"),
        ("+0x1F", "string"),
        ("007", "string"),
        ("1 007", "string"),
        ("-01", "string"),
        ("00.5", "string"),
        ("0.5 0", "float64"),
        ("1e400", "string"),
        ("true False TRUE", "bool"),
        ("true 1", "string"),
        ("tRUE", "string"),
        ("2024-01-01", "date32"),
        ("2024-01-01 2024-13-01", "string"),
        ("2024/01/31 2024/1/5", "date32"),
        ("2024-1-5 2024/01/31", "date32"),
        ("2024-1-5 2024-01-31T10:00", "timestamp[us]"),
        ("2024/1/5T10:00:00.5+02", "timestamp[us, UTC]"),
        ("2024-1/5", "string"),
        ("2024.01.05", "string"),
        ("24/1/5", "string"),
        ("2024/1/32", "string"),
        ("2024-01-01T00:00", "timestamp[us]"),
        ("2024-01-01 2024-01-01T00:00:00.1", "timestamp[us]"),
        ("2024-01-01T00:00:00.1234567", "timestamp[ns]"),
        ("2024-01-01T00:00:00.1234560", "timestamp[ns]"),
        ("2024-01-01T00:00Z", "timestamp[us, UTC]"),
        ("2024-01-01T00:00+02 2024-01-01T00:00:00.123456789Z", "timestamp[ns, UTC]"),
        ("2024-01-01 2024-01-01T00:00Z", "string"),
        ("2024-01-01T00:00 2024-01-01T00:00Z", "string"),
        ("2024-01-01T00:00:00.1234567 9999-01-01", "string"),
        ("9999-01-01T00:00:00.1234567", "string"),
        ("2024-01-01 5", "string"),
        ("20240101", "int64"),
        ('""', "string"),
        ('"1" "2"', "int64"),
    ],
)
def test_examples(texts: str, expected: str) -> None:
    assert inferred(*texts.encode().split()) == expected


@pytest.mark.parametrize("isa", EACH_ISA)
def test_every_two_kinds(isa: str) -> None:
    """Type, values and evidence are the reference's, in either order, with nulls between."""
    for a, b in combinations_with_replacement(SAMPLES.values(), 2):
        for texts in ((a, b), (b, a), (a,) * 17 + (b"",) + (b,) * 9, (b"", b, b"", a)):
            expected = read_reference(column(*texts), ReferenceOptions(header=True))
            assert_same_table(read(column(*texts), context=Context(isa=isa)), expected)


def test_every_three_kinds_in_any_order() -> None:
    kinds = list(SAMPLES)
    rng = random.Random(0)
    for _ in range(150):
        three = rng.choices(kinds, k=3)
        expected = type_of_kind(join(join(three[0], three[1]), three[2]))
        assert {inferred(*(SAMPLES[kind] for kind in order)) for order in permutations(three)} == {str(expected)}


@pytest.mark.parametrize(
    ("value", "null", "expected"),
    [("0x1F", "0xFF", "int64"), ("12:30:15", "00:00:00", "time64[us]"), ("PT1S", "PT0S", "duration[us]")],
)
def test_null_that_looks_like_a_value_is_null(value: str, null: str, expected: str) -> None:
    rows = [value, null, value] * 20
    for isa in _native.isas():
        found = read("\n".join(["a", *rows]).encode(), null_values=null, context=Context(isa=isa))["a"]
        assert str(found.type) == expected and found.null_count == 20 and found[1] is None and found[2] is not None


@pytest.mark.parametrize(("numbers", "expected"), [("5", "string"), ("1", "bool"), ("0.5", "string")])
def test_a_number_that_is_a_word_for_true_is_boolean(numbers: str, expected: str) -> None:
    text = f"a\n{numbers}\n{numbers}\n1\n".encode()
    table = read_csv(text, true_values=["1"], false_values=["0"], device="cpu")
    assert str(table.schema["a"]) == expected


def test_join_is_commutative_and_associative() -> None:
    for a in Kind:
        for b in Kind:
            assert join(a, b) == join(b, a)
            assert all(join(join(a, b), c) == join(a, join(b, c)) for c in Kind)


@pytest.mark.parametrize("first", [kind for kind in Kind if kind != Kind.TEXT], ids=lambda kind: kind.name)
@pytest.mark.parametrize("begin", [0, *(pytest.param(begin, marks=pytest.mark.long) for begin in (1, 2))])
def test_types_that_change_after_the_sample(begin: int, first: Kind) -> None:
    """The last record of a long text may be of any kind; then the columns are read again, and nothing is lost."""
    many = SAMPLE_BYTES // (len(SAMPLES[first]) + 3) + 500
    for number, last in enumerate(Kind, begin + list(Kind).index(first)):
        expected = type_of_kind(join(first, last))
        chunk_bytes, threads = ((None, 2), (5_000, 2), (1 << 20, 1))[number % 3]
        table = read(column(*[SAMPLES[first]] * many, SAMPLES[last]), chunk_bytes=chunk_bytes, threads=threads)
        found = table["a"]
        assert found.type == expected
        given = read(column(SAMPLES[first], SAMPLES[last]), schema=[expected, "int64"])["a"]
        assert raw_values(found[many - 1 : many + 1]) == raw_values(given)
        assert found.null_count == many * (first == Kind.EMPTY) + (last == Kind.EMPTY)
        evidence = table.report.columns[0].evidence
        settles_first = type_of_kind(first) == expected and first != Kind.EMPTY
        if first == last == Kind.EMPTY:
            assert evidence is None
        else:
            assert evidence is not None
            assert evidence.record == (1 if settles_first else many + 1)


def test_two_changes_after_the_sample() -> None:
    """The first uint64 follows the sample, then a negative, which no integer type joins with it, then perhaps a point."""
    numbers = [b"1"] * (SAMPLE_BYTES // 4 + 100)
    for tail, expected in (
        ([b"9223372036854775808", b"-1"], "string"),
        ([b"-1", b"9223372036854775808"], "string"),
        ([b"-1", b"9223372036854775808", b"0.5"], "string"),
        ([b"18446744073709551616", b"0.5", b"x"], "string"),
    ):
        seen = set()
        for chunk_bytes, threads in ((4_096, 1), (4_096, 2), (64 << 10, 2), (2 << 20, 1)):
            table = read(column(*numbers, *tail, *numbers), chunk_bytes=chunk_bytes, threads=threads)
            assert str(table["a"].type) == expected
            evidence = table.report.columns[0].evidence
            assert evidence is not None
            seen.add((evidence.record, evidence.byte, evidence.text))
            values = table["a"][len(numbers) : len(numbers) + len(tail)].to_pylist()
            assert values == [text.decode() if expected == "string" else float(text) for text in tail]
        assert len(seen) == 1


@pytest.mark.parametrize("last", [b"x", b"0.5"])
def test_text_after_the_sample_is_the_evidence_among_signed_and_unsigned_numbers(last: bytes) -> None:
    signed, unsigned, natural = SAMPLES[Kind.NEGATIVE], SAMPLES[Kind.UINT64], [b"1"] * (SAMPLE_BYTES // 4 + 100)
    for first in ([signed, unsigned], [unsigned, signed]):
        evidence = read(column(*first, *natural, last)).report.columns[0].evidence
        assert evidence is not None
        assert evidence.text == last


@pytest.mark.parametrize("chunk_bytes", [4096, 256 << 10, 1 << 20])
def test_evidence_of_text_among_nanoseconds_does_not_depend_on_chunks(chunk_bytes: int) -> None:
    """Record 1 is out of the reach of nanoseconds, record 2 needs them; the last one is text anyway."""
    times = [b"9999-01-01 00:00:00", b"2020-01-01 00:00:00.1234567", *[b"2020-01-01 00:00:00"] * 15_000, b"hello"]
    table = read(column(*times), chunk_bytes=chunk_bytes)
    small = read(column(*times[:3], times[-1]))
    evidence, expected = table.report.columns[0].evidence, small.report.columns[0].evidence
    assert evidence is not None
    assert expected is not None
    assert evidence.text == expected.text


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0], "int8"),
        ([-128, 127], "int8"),
        ([128], "uint8"),
        ([255], "uint8"),
        ([-1, 128], "int16"),
        ([256], "int16"),
        ([-129], "int16"),
        ([32768], "uint16"),
        ([65535], "uint16"),
        ([-1, 32768], "int32"),
        ([65536], "int32"),
        ([2**31], "uint32"),
        ([2**32 - 1], "uint32"),
        ([-1, 2**31], "int64"),
        ([2**32], "int64"),
        ([2**63], "uint64"),
    ],
)
def test_smallest_integer(values: list[int], expected: str) -> None:
    for padding in (0, 20):
        texts = [b"%d" % value for value in [*[0] * padding, *values, *[1] * padding]]
        for nulls in ([], [b""]):
            data = column(*texts, *nulls)
            table = read(data, shrink=True)
            assert str(table["a"].type) == expected
            assert_same_table(table, read_reference(data, ReferenceOptions(header=True, shrink=True)))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ("0.5 1", "float32"),
        ("0.1", "float64"),
        ("16777217 .5", "float64"),
        ("16777216 .5", "float32"),
        ("nan -inf .5", "float32"),
        ("3.5e38", "float64"),
        ("1e-46", "float64"),
        ("3.4028234663852886e38", "float32"),
        ("1e-45 0", "float64"),
    ],
)
def test_smallest_float(texts: str, expected: str) -> None:
    for padding in ([], [b"0.25"] * 20):
        data = column(*padding, *texts.encode().split(), *padding)
        table = read(data, shrink=True)
        assert str(table["a"].type) == expected
        assert_same_table(table, read_reference(data, ReferenceOptions(header=True, shrink=True)))


def test_shrinking_leaves_given_types_alone() -> None:
    table = read(b"a,b,c\n1,1,1.5\n", shrink=True, dtypes={"a": "int64", "c": "float64"})
    assert [str(type_) for type_ in table.schema.values()] == ["int64", "int8", "float64"]


def test_rows_that_are_rejected_do_not_count_for_the_smallest_type() -> None:
    data = b"a,b\n1,1\n300,x\n2,2\n"
    table = read(data, dtypes={"b": "int64"}, on_error="reject", shrink=True)
    assert str(table["a"].type) == "int8"
    assert table["a"].to_pylist() == [1, 2]


def test_evidence_of_the_smallest_type_counts_rejected_records() -> None:
    """The record that decides a type has its number among all records, also directly after a rejected one."""
    data = b"a,b\nx,1\n1,300\n2,7\ny,-1\n3,70000\n"
    for rows, evidence in ((4, (2, b"300")), (None, (5, b"70000"))):
        table = read_csv(data, dtypes={"a": "int64"}, shrink=True, on_error="reject", n_rows=rows)
        found = table.report.columns[1].evidence
        assert found is not None and (found.record, found.text) == evidence


def test_no_value_no_evidence() -> None:
    for data in (b"a,b\n", b"a,b\n,1\n", b"a,b\n,1\n,1\n"):
        table = read(data)
        assert str(table["a"].type) == "string"
        assert table.report.columns[0].evidence is None
        assert "no value" in str(table.report.columns[0])


def test_evidence_is_the_field_as_it_stands() -> None:
    table = read(b'a,b\n1,2\n"2",3\n"x""y",4\nz,5\n')
    evidence = table.report.columns[0].evidence
    assert evidence is not None
    assert (evidence.record, evidence.byte, evidence.text) == (3, 14, b'"x""y"')
    long = read(b"a,b\n" + b"x" * 500 + b",1\n").report.columns[0].evidence
    assert long is not None
    assert long.text == b"x" * 100


def test_without_inference_all_is_text() -> None:
    table = read(b"a,b\n1,2024-01-01\n", infer_schema=False, dtypes={"b": "date32"})
    assert [str(type_) for type_ in table.schema.values()] == ["string", "date32"]
    assert table["a"].to_pylist() == ["1"]
