"""Tests any bytes at all: a proposal or an error with a reason, in bounded time, and a read that accounts for every record."""

import time
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headrace
from tests.examples import examples

ODD = st.lists(
    st.sampled_from([b"a", b"1", b",", b";", b"|", b"\t", b'"', b"'", b"\\", b"#", b"\n", b"\r", b"\r\n", b"\0", b" ", b"\xff"])
)
LINES = st.lists(st.sampled_from([b"", b"a", b"a,b", b"1;2", b"# x", b'"', b"\0", b"x" * 3000, b",,", b"1,2,3"])).map(b"\n".join)
TEXTS = st.binary(max_size=300) | ODD.map(b"".join) | LINES


@settings(max_examples=examples(400), deadline=None)
@given(TEXTS)
@example(b"a")
@example(b"a,b,c")
@example(b"a,b,c\n")
@example(b"1\n2\n3\n")
@example(b"\0")
@example(b"a\0b,c\n1\0,2\n")
@example(b'"')
@example(b"'a\n'b\n")
@example(b"\xff\xfe")
@example(b"\xff\xfea")
@example(b"\xef\xbb\xbf,")
@example(b"\x1f\x8b\x08")
def test_nothing_crashes_and_no_row_is_lost(text):
    try:
        sniffed = headrace.sniff_csv(text)
    except (headrace.EmptyInputError, headrace.SourceError):
        return
    assert str(sniffed)
    assert 0 <= sniffed.agreement <= 1
    try:
        table = headrace.read_csv(text, dialect="auto", on_error="reject")
    except headrace.ParseError:  # of a header with malformed quotes, or a name that is not UTF-8
        assert sniffed.header
        return
    table.report.check()
    report = table.report
    assert report.skipped.preamble <= max(sniffed.skip_rows, 0)
    assert report.skipped.comment == 0 or sniffed.comment is not None
    assert report.rows + report.rejected + report.skipped.total == report.records


@settings(max_examples=examples(300), deadline=None)
@given(TEXTS)
def test_a_proposal_reads_its_own_sample_or_says_that_it_does_not(text):
    try:
        sniffed = headrace.sniff_csv(text)
    except (headrace.EmptyInputError, headrace.SourceError):
        return
    says_not = any(line.startswith("the proposal does not read its sample") for line in sniffed.evidence)
    try:
        refused = headrace.read_csv(text, **sniffed.options, on_error="null").report.rejected > 0
    except headrace.ParseError:
        refused = True
    assert refused == says_not


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS, st.integers(1, 400))
def test_any_size_of_sample(text, sample_bytes):
    with suppress(headrace.EmptyInputError, headrace.SourceError):
        headrace.sniff_csv(text, sample_bytes=sample_bytes)


def worst_cases():
    every = b"ab1,;\"'\\#\t|\r\n ~^:/-%!*&$@=+\x1f\x1e\x01"
    yield "all signs", bytes(every[(i * 7919 + i * i) % len(every)] for i in range(len(every))) * 12_000
    yield "one line", b"x" * 5_000_000
    yield "one line of fields", b"1," * 500_000
    yield "one byte a line", b"1\n" * 500_000
    yield "separators alone", b",;|\t" * 100_000
    yield "quotes alone", b'"' * 400_001
    yield "NULs", b"\0" * 400_000
    yield "blank lines, then a table", b"\n" * 200_000 + b"a,b\n1,2\n"
    yield "a quote that never closes", b'a,b\n"x,1\n' + b"y,2\n" * 100_000
    yield "spaces", b" " * 400_000
    yield "comments alone", b"# x\n" * 100_000
    yield "many columns", b"\n".join([b",".join(b"%d" % i for i in range(20_000))] * 3)


@pytest.mark.parametrize(("name", "text"), list(worst_cases()), ids=lambda part: part if isinstance(part, str) else "")
def test_time_is_bounded(name, text):
    begun = time.process_time()
    with suppress(headrace.EmptyInputError):
        headrace.sniff_csv(text)
    assert time.process_time() - begun < 5, name
