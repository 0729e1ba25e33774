"""Samples, candidates and regularity, on literals."""

import pytest

from headrace.sources.open import open_source
from headrace.structure.candidates import candidates, variants
from headrace.structure.dialect import Dialect
from headrace.structure.layout import agreement_of, lay_out, regularity
from headrace.structure.sample import count_line_ends, take_sample


def test_layout_leaves_out_comments_and_blank_lines():
    layout = lay_out(b"#c\na,b\n\n1,2\n", Dialect(comment="#"))
    assert (layout.starts, layout.widths, layout.comments) == ([3, 8], [2, 2], [0])
    assert [layout.fields(record) for record in range(2)] == [[b"a", b"b"], [b"1", b"2"]]


def test_layout_with_a_long_separator():
    layout = lay_out(b'a||"b||c"||\n', Dialect(sep="||"))
    assert layout.fields(0) == [b"a", b'"b||c"', b""]
    assert layout.record_text(0) == b'a||"b||c"||'


def test_cut_sample_loses_its_last_record():
    assert lay_out(b"a,b\n1,2\n3", Dialect(), whole=False).widths == [2, 2]
    assert lay_out(b"a,b,c", Dialect(), whole=False).widths == [3], "the only one stays"


def test_quote_that_the_cut_leaves_open_is_no_fault():
    text = b'a,b\n1,2\n3,"x'
    assert not lay_out(text, Dialect(), whole=False).unclosed
    assert lay_out(text, Dialect()).unclosed
    assert lay_out(text + b"\n" * 70_000, Dialect(), whole=False).unclosed, "but one that stays open for 64 KB is"


def test_malformed_records():
    layout = lay_out(b'a,b\n1,"x"y\n2,z\n', Dialect())
    assert layout.malformed == {1}


@pytest.mark.parametrize(
    ("text", "width", "first", "agreement"),
    [
        (b"a,b\n1,2\n3,4\n", 2, 0, 1.0),
        (b"notes\nmore\na,b\n1,2\n", 2, 2, 1.0),
        (b"a,b,c\n1,2,3\n4,5\n", 3, 0, 2 / 3),
        (b"a\nb\n", 1, 0, 1.0),
        (b"a\nb\nc,d\n", 1, 0, 2 / 3),
        (b"a,b\n1,2\n3,4\nnote\nmore\n", 2, 0, 1.0),
        (b"a,b\n1,2\n3,4\n5\n", 2, 0, 3 / 4),
        (b"1,2\n1,2,3\n4,5,6\n1\n", 3, 0, 2 / 4),
    ],
)
def test_regularity(text, width, first, agreement):
    found = regularity(lay_out(text, Dialect()))
    assert (found.width, found.first, found.agreement) == (width, first, pytest.approx(agreement))


def test_malformed_quotes_and_preamble_cost():
    plain = regularity(lay_out(b"a,b\n1,2\n3,4\n", Dialect())).score
    assert regularity(lay_out(b'a,b\n1,"2"x\n3,4\n', Dialect())).score < plain
    assert regularity(lay_out(b"x\na,b\n1,2\n3,4\n", Dialect())).score < plain


def test_agreement_of_a_window_that_begins_in_quotes():
    rows = b'1,"a,\nb"\n' * 20
    assert agreement_of(rows, Dialect(), 2, ends=True) == (1.0, False)
    assert agreement_of(rows[5:], Dialect(), 2, ends=False) == (1.0, False)
    assert agreement_of(b"1,2\n", Dialect(), 2, ends=True) is None


@pytest.mark.parametrize("cell", [b'"x"y', b'"never closed'])
@pytest.mark.parametrize("place", [5, 1000, 3999])
def test_malformed_quotes_of_a_window(cell, place):
    rows = [b"1,2\n"] * 4000
    rows[place] = b"1," + cell + b"\n"
    assert agreement_of(b"".join(rows), Dialect(), 2, ends=True)[1]
    assert agreement_of(b"".join(rows), Dialect(), 2, ends=False)[1] == (place < 3999), "the last record is cut"


def test_a_window_that_ends_in_a_quoted_field():
    assert agreement_of(b"1,2\n" * 2000 + b'3,"x\ny', Dialect(), 2, ends=False) == (1.0, False)


def test_candidates_are_what_occurs():
    assert {dialect.sep for dialect in candidates(b"a;b|c\n", {})} == {b";", b"|", b","}
    assert {dialect.quote_char for dialect in candidates(b"a;b\n", {})} == {b'"'}
    assert {dialect.quote_char for dialect in candidates(b"\"a\";'b'\n", {})} == {b'"', b"'", None}
    assert {dialect.comment for dialect in candidates(b"a\n#b\n", {})} == {None, b"#"}
    assert {dialect.lineterminator for dialect in candidates(b"a\rb\nc\nd\n", {})} == {None, b"\n"}


def test_doubled_separator_is_no_single_one():
    seps = [dialect.sep for dialect in candidates(b"a||b||c\n", {})]
    assert b"||" in seps and b"|" not in seps
    assert b"|" in {dialect.sep for dialect in candidates(b"a||b|c\n", {})}


def test_fixed_options_stay():
    fixed = {"sep": b";", "quote_char": None, "comment": b"%"}
    (only,) = candidates(b"a,b\n#'c'\n", fixed)
    assert (only.sep, only.quote_char, only.comment) == (b";", None, b"%")


def test_variants_need_a_reason():
    assert variants(b"a,b\n", Dialect(), {}, malformed=False) == []
    assert variants(b'"a\\"b", "c"\n', Dialect(), {"lenient_quotes": False}, malformed=True) == [
        Dialect(escape_char="\\"),
        Dialect(skip_initial_space=True),
        Dialect(escape_char="\\", skip_initial_space=True),
    ]


def test_sample_is_bounded(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" * 100_000)
    with open_source(path) as source:
        sample = take_sample(source, 0, 1000)
        whole = take_sample(source, 0, 400_000)
    assert (len(sample.text), [len(window) for window in sample.windows], sample.whole) == (1000, [16384] * 3, False)
    assert sample.bytes_read == 1000 + 3 * 16384
    assert (len(whole.text), whole.windows, whole.whole) == (400_000, (), True)


def test_line_ends_are_told_apart():
    assert count_line_ends(b"a\r\nb\nc\rd\r\r\n") == {b"\n": 1, b"\r\n": 2, b"\r": 2}
