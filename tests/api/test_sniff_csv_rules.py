"""One test for each decision."""

import pytest

import headrace


def sniff(text, **options):
    return headrace.sniff_csv(text, **options)


@pytest.mark.parametrize("sep", [",", "\t", ";", "|", "\x1f", "^", "~", "||", "::", "~|~", "\\|"])
def test_separator(sep):
    rows = [["id", "name", "day"], ["1", "Ann", "2020-01-31"], ["2", "Bo", "2020-02-01"], ["3", "", ""]]
    assert sniff("\n".join(map(sep.join, rows)).encode()).sep == sep


@pytest.mark.parametrize("text", [b"1 2 3\n4 5 6\n7 8 9\n", b"x y\n1.5 2\n3 4\n"])
def test_space_separates_values(text):
    assert sniff(text).sep == " "


@pytest.mark.parametrize(
    "text",
    [
        b"name\nJohn Smith\nMary Brown\n",
        b"time\n05:40\n21:30\n",
        b"seen\n2020-01-01 10:00:00\n2020-01-01 11:00:00\n",
        b"link\nhttp://a.org\nhttp://b.org\n",
        b"n\n1\n2\n",
        b"word\n",
        b"7",
    ],
)
def test_one_column_stays_one_with_a_comma(text):
    found = sniff(text)
    assert (found.sep, len(found.schema)) == (",", 1)


def test_one_column_that_has_commas_gets_a_separator_that_does_not_occur():
    text = b"said\nwell, yes, no\noh\nno\nmaybe, so\nhm\nwhat, now, then, so\n"
    table = headrace.read_csv(text, dialect="auto")
    assert (table.num_columns, table.num_rows) == (1, 6)


def test_decimal_commas_do_not_separate():
    assert sniff(b"1,5;2,5;3,5\n4,5;6,5;7,5\n").sep == ";"


def test_separator_in_quotes_does_not_count():
    assert sniff(b'a;b\n1;"x,y,z"\n2;"u,v,w"\n').sep == ";"


def test_comma_before_others_where_all_is_equal():
    assert sniff(b"a,b;c,d\ne,f;g,h\n", header=False).sep == ","


def test_ragged_records_do_not_make_one_column():
    assert sniff(b"a,b,c\n1,2\n3,4,5\n6\n7,8\n").sep == ","


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (b"a,b\n1,x\n", '"'),
        (b'a,b\n1,"x"\n', '"'),
        (b"a,b\n1,'x,y'\n2,'z'\n", "'"),
        (b"a,b\n1,O'Brien\n2,D'Arcy\n", '"'),
        (b'a,b\n1,5" pipe\n2,6" pipe\n', None),
    ],
)
def test_quote(text, quote):
    assert sniff(text).quote_char == quote


def test_lenient_quotes_where_strict_ones_are_malformed():
    found = sniff(b'1;"the "old" one"\n2;"a ;"b" c"\n3;"d"\n')
    assert (found.sep, found.quote_char, found.lenient_quotes) == (";", '"', True)
    assert not sniff(b'1;"one"\n2;"a ""b"" c"\n').lenient_quotes


@pytest.mark.parametrize(
    ("text", "escape"),
    [
        (b'1|"a\\"b"\n2|"c"\n', "\\"),
        (b"a,b\nx\\,y,1\nz,2\n", "\\"),
        (b'1|"a""b"\n', None),
        (b"a,b\nc:\\dir,1\nc:\\other,2\n", None),
        (b"a\tb\n\\N\t1\n2\t\\N\n", None),
    ],
)
def test_escape(text, escape):
    assert sniff(text).escape_char == escape


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        (b"# about\na,b\n1,2\n# more\n3,4\n", "#"),
        (b"// about\na,b\n1,2\n", "//"),
        (b"-- about\na,b\n1,2\n", "--"),
        (b"% about\na,b\n1,2\n", "%"),
        (b"# about\nn\n1\n2\n3\n", "#"),
        (b"#id,name\n1,x\n2,y\n", None),
        (b"#id\n1\n2\n", None),
        (b"tag\n#a\n#b\nc\n", None),
        (b"a,#b\n1,#2\n", None),
        (b'a,n,s\nx,0,y\nx,0,y\nx,0,y\n;x,0,"y,z"\n', None),
    ],
)
def test_comment(text, comment):
    assert sniff(text).comment == comment


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (b"a,b\n1,2\n", True),
        (b"1,2\n3,4\n", False),
        (b"a,2020-01-01\nb,2020-01-02\n", False),
        (b"name,city\nPedro,Rome\nAnn,Oslo\n", True),
        (b"Ann,Rome\nBo,Oslo\nAnn,Bern\n", False),
        (b"a,a\nx,y\n", False),
        (b"a,,c\n1,2,3\n", True),
        (b",,\n1,2,3\n", False),
        (b"a,b\n", True),
        (b"1,b\n", False),
        (b"when\n12:30\n13:45\n", True),
    ],
)
def test_header(text, header):
    assert sniff(text).header is header


def test_preamble_is_counted_in_lines():
    found = sniff(b"Report\n\nof May\na,b\n1,2\n3,4\n")
    assert (found.skip_rows, found.header, found.columns) == (3, True, ("a", "b"))
    assert found.skipped == ((1, "Report"), (2, ""), (3, "of May"))


def test_two_lines_of_text_are_no_preamble_and_table():
    assert sniff(b"Hello\nHello, world\n").skip_rows == 0


def test_names_fewer_than_fields_are_no_preamble():
    found = sniff(b"a,b\n1,2,3\n4,5,6\n")
    assert (found.skip_rows, found.header) == (0, True)
    with pytest.raises(headrace.ParseError, match="too many fields"):
        headrace.read_csv(b"a,b\n1,2,3\n4,5,6\n", dialect="auto")


def test_initial_space():
    assert sniff(b'a, b\n1, "x, y"\n2, "z"\n').skip_initial_space
    assert not sniff(b"a,b\n1,x y\n2, z\n").skip_initial_space


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end):
    found = sniff(f"a;b{end}1;2{end}".encode())
    assert (found.lineterminator, found.line_ends, found.sep) == (None, (end,), ";")


def test_carriage_return_in_a_field():
    text = b"a,b,c\n" + b"1,x,2\n" * 5 + b"1,x\ry,2\n" * 5
    assert sniff(text).lineterminator == "\n"
    assert headrace.read_csv(text, dialect="auto")["b"][5] == "x\ry"


def test_ascii_separators():
    found = sniff(b"a\x1fb\x1e1\x1fx\ny\x1e2\x1fz\x1e")
    assert (found.sep, found.lineterminator, found.columns) == ("\x1f", "\x1e", ("a", "b"))


def test_proposal_that_does_not_hold_further_on():
    text = b"a,b\n" + b"1,2\n" * 1000 + b"1;2;3\n" * 20_000
    found = sniff(text, sample_bytes=2000)
    assert found.agreement < 0.5
    assert any("does not hold everywhere" in line for line in found.evidence)
