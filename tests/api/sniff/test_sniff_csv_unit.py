"""Tests the result of `sniff_csv` on literals."""

import dataclasses
import io

import pytest

import headrace

TEXT = b"exported by hand\n# units: m\ncity;height;seen\nRome;21,5;2020-01-31\n# later\nOslo;23,1;2020-02-01\n"


def test_everything_about_one_text():
    sniffed = headrace.sniff_csv(TEXT)
    assert sniffed.options == {
        "sep": ";",
        "quote_char": '"',
        "double_quote": True,
        "lenient_quotes": False,
        "strict_quotes": False,
        "escape_char": None,
        "comment": "#",
        "lineterminator": None,
        "skip_initial_space": False,
        "header": True,
        "skip_rows": 2,
        "decimal": ",",
    }
    assert sniffed.columns == ("city", "height", "seen")
    assert dict(sniffed.schema)["seen"] == "date32"
    assert sniffed.skipped == ((1, "exported by hand"), (2, "# units: m"), (5, "# later"))
    assert (sniffed.line_ends, sniffed.agreement, sniffed.sample_bytes) == (("\n",), 1.0, len(TEXT))


def test_text_of_a_proposal():
    assert str(headrace.sniff_csv(TEXT)).splitlines() == [
        "sep=';', quote_char='\"', double_quote=True, lenient_quotes=False, strict_quotes=False, "
        "escape_char=None, comment='#', lineterminator=None, skip_initial_space=False, header=True, skip_rows=2, decimal=','",
        "3 of 3 records have 3 fields; the whole text, 95 bytes",
        *[line for line in headrace.sniff_csv(TEXT).evidence if line.startswith(("score", "next"))],
        "header=True: none of its fields is a number, a date or another value",
        "skip_rows=2 leaves out 2 lines",
        "comment='#' leaves out 1 line of the sample",
        "  line 1: 'exported by hand'",
        "  line 2: '# units: m'",
        "  line 5: '# later'",
        "decimal=',': 'height' has numbers like '21,5', and no column has numbers with a point",
        "  city: string",
        "  height: float64",
        "  seen: date32",
    ]


def test_odd_records_are_shown_with_their_lines():
    sniffed = headrace.sniff_csv(b"a,b\n1,2\n3\n4,5\n6,7\n")
    assert "  line 3 has 1 field: '3'" in sniffed.evidence
    assert sniffed.agreement == 0.8


def test_words_that_seem_to_mean_null():
    sniffed = headrace.sniff_csv(b"a,b\n1,x\nNA,NA\n3,y\n")
    assert sniffed.null_values == ("NA",)
    assert any(line.startswith("'a' is text only because of 'NA'") for line in sniffed.evidence)
    assert sniffed.options["null_values"] == "auto"


def test_equals_are_told():
    sniffed = headrace.sniff_csv(b"a,b;c\nd,e;f\n")
    assert sniffed.sep == ","
    assert any("as good, but less usual" in line for line in sniffed.evidence)


@pytest.mark.parametrize(
    "make", [lambda path: path, str, lambda path: path.read_bytes(), lambda path: bytearray(path.read_bytes())]
)
def test_sources(tmp_path, make):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)
    assert headrace.sniff_csv(make(path)) == headrace.sniff_csv(TEXT)


@pytest.mark.parametrize("make", [io.BytesIO, lambda text: io.StringIO(text.decode())])
def test_file_object_stands_where_it_stood(make):
    stream = make(b"junk\n" + TEXT)
    stream.seek(5)
    assert headrace.sniff_csv(stream) == headrace.sniff_csv(TEXT)
    assert stream.tell() == 5


def test_what_is_given_is_not_questioned():
    sniffed = headrace.sniff_csv(TEXT, sep=",", comment=None, quote_char=None, header=False, skip_rows=1)
    chosen = sniffed.options
    assert (chosen["sep"], chosen["comment"], chosen["quote_char"], chosen["header"], chosen["skip_rows"]) == (
        ",", None, None, False, 1,
    )  # fmt: skip


def test_proposal_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        headrace.sniff_csv(TEXT).sep = ","


def test_byte_order_mark():
    sniffed = headrace.sniff_csv(b"\xef\xbb\xbfid;x\r\n1;2\r\n")
    assert (sniffed.sep, sniffed.columns, sniffed.line_ends) == (";", ("id", "x"), ("\r\n",))


def test_read_uses_the_proposal():
    table = headrace.read_csv(TEXT, dialect="auto")
    assert table.to_pydict()["city"] == ["Rome", "Oslo"]
    assert table.report.sniffed == headrace.sniff_csv(TEXT)
    skipped = table.report.skipped
    assert (skipped.preamble, skipped.comment, skipped.header, table.report.records) == (2, 1, 1, 6)
    table.report.check()


def test_read_of_a_stream_that_cannot_seek():
    class Pipe:
        def read(self):
            return TEXT

    assert headrace.read_csv(Pipe(), dialect="auto").to_pydict()["city"] == ["Rome", "Oslo"]


def test_given_options_of_a_read_win():
    table = headrace.read_csv(TEXT, dialect="auto", skip_rows=3, header=False, names=["x", "y", "z"])
    assert table.to_pydict()["x"] == ["Rome", "Oslo"]
    assert table.report.skipped.preamble == 3
    table.report.check()


@pytest.mark.parametrize("name", [b"c%d", b"%d"])
def test_a_header_that_is_longer_than_the_sample(name):
    names = [b"id", *(name % place for place in range(60_000))]
    text = b"\n".join([b",".join(names), b",".join([b"x", *[b"5"] * 60_000]), b""])
    found = headrace.sniff_csv(text, sample_bytes=100_000)
    assert found.header and len(names) * 4 > 100_000
    table = headrace.read_csv(text, dialect="auto")
    assert table.shape == (1, 60_001) and table.column_names[60_000] == names[-1].decode()


def test_header_by_index_skips_as_it_says():
    table = headrace.read_csv(b"x\na;b\n1;2\n", dialect="auto", header=1, delimiter=";")
    assert table.to_pydict() == {"a": [1], "b": [2]}
    assert table.report.skipped.preamble == 1
    table.report.check()


def test_names_take_the_place_of_a_header_that_is_found():
    table = headrace.read_csv(b"a;b\n1;2\n", dialect="auto", names=["x", "y"])
    assert table.to_pydict() == {"x": [1], "y": [2]}


def test_an_option_that_no_text_shows_is_kept_as_given():
    data = b"a\n1\n\n3\n"
    assert "skip_blank_lines" not in headrace.sniff_csv(data).options
    options = headrace.sniff_csv(data, skip_blank_lines=False).options
    assert options["skip_blank_lines"] is False
    assert len(headrace.read_csv(data, **options)) == 3
