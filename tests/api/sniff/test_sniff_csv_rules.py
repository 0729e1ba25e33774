"""Tests each decision of `sniff_csv`, one test for each."""

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
        (b'a,b\n1,5" pipe\n2,6" pipe\n', '"'),
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
        (b"a,2020-01-01\nb,2020-01-02\n", True),
        (b"name,city\nPedro,Rome\nAnn,Oslo\n", True),
        (b"Ann,Rome\nBo,Oslo\nAnn,Bern\n", False),
        (b"Ann,1\nBo,2\nAnn,3\n", False),
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


def test_names_of_another_width_directly_above_the_records_are_no_preamble():
    names, record = b",".join(b"name%c" % (97 + i) for i in range(12)), b",".join(b"%d" % i for i in range(10))
    found = sniff(names + b"\n" + (record + b"\n") * 5)
    assert (found.skip_rows, found.header, len(found.columns), found.short_records) == (0, True, 12, "null")
    assert sniff(b"Rome,Oslo\n" + (record + b"\n") * 5).skip_rows == 1


def test_titles_in_quotes_are_preamble():
    found = sniff(b'"Of the first, not the last"\n"C=354; O=129"\n"id","name"\n"1","Ann"\n"2","Bo"\n"3","Cy"\n')
    assert (found.sep, found.skip_rows, found.columns) == (",", 2, ("id", "name"))


def test_columns_that_are_empty_everywhere_say_nothing_of_the_header():
    found = sniff(b"Meetings,,,,,\nwho,with,what,,,\nAnn,Bo,talk,,,\nCy,Di,walk,,,\n")
    assert (found.skip_rows, found.header, found.columns[:4]) == (1, True, ("who", "with", "what", "column_4"))


def test_two_lines_of_text_are_no_preamble_and_table():
    assert sniff(b"Hello\nHello, world\n").skip_rows == 0


def test_names_fewer_than_fields_are_no_preamble():
    found = sniff(b"a,b\n1,2,3\n4,5,6\n")
    assert (found.skip_rows, found.header, found.long_records) == (0, True, "widen")
    assert headrace.read_csv(b"a,b\n1,2,3\n4,5,6\n", dialect="auto").to_pydict() == {"a": [1, 4], "b": [2, 5], "column_3": [3, 6]}


def test_initial_space():
    assert sniff(b'a, b\n1, "x, y"\n2, "z"\n').skip_initial_space
    assert not sniff(b"a,b\n1,x y\n2, z\n").skip_initial_space


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (b"a , b , c\n1 , x , 2\n3 , y , 4\n", ["int64", "string", "int64"]),
        (b"a  |b  |c\n1  |xx |2\n30 |y  |4\n", ["int64", "string", "int64"]),
        (b'a , b\n"x" , 1\n"y, z" , 2\n', ["string", "int64"]),  # a space after a closing quote
        (b'a,b\n"x"  ,1\n"y, z",2\n', ["string", "int64"]),
        (b'a,b\n1,"x" \n2,"y, z"\n', ["int64", "string"]),
    ],
)
def test_fields_padded_on_both_sides(text, types):
    found = sniff(text)
    assert (found.strip, list(found.schema.values())) == (True, types)
    assert found.options["strip"] is True
    headrace.read_csv(text, **found.options).report.check()
    assert [str(kind) for kind in headrace.read_csv(text, dialect="auto").schema.values()] == types


@pytest.mark.parametrize("text", [b"a, b\n1, 2\n", b"a,b\nx ,y\nu,v\nw,s\n", b"a\nx \n", b"said \nyes , no\nhm\nso\n"])
def test_strip_is_not_proposed(text):
    found = sniff(text)
    assert not found.strip
    assert "strip" not in found.options
    headrace.read_csv(text, **found.options).report.check()


def test_given_options_about_spaces_are_kept():
    padded = b"a , b , c\n1 , x , 2\n"
    assert not sniff(padded, skip_initial_space=False).strip
    assert not sniff(padded, strip=False).strip
    assert sniff(b"a,b\n1,2\n", strip=True).strip


@pytest.mark.parametrize(
    "text",
    [
        b"title\nThe 3 bears\nThe 7 dwarfs\n",  # another number of words
        b"Best of years\nBest of 2019\nBest of 2020\n",  # a sentence
        b"the 3 bears\nthe 7 dwarfs\nthe 5 wives\n",  # no names
        b"first given last\nJohn Q Smith\nMary A Brown\n",  # no column of values
        b"name age city\nAnn 30 Rome\n",  # one record
        b"said what when\nwell, yes no\noh, 3 hm\nno, 4 so\nyes, 5 at\n",  # marks in the words
    ],
)
def test_words_between_spaces_that_are_no_table(text):
    assert sniff(text).sep != " "


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


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        (b"a\n12:30:15\n12:31:15\n", ","),
        (b"12:30:15\n12:31:15\n", ","),
        (b"h:m:s\n12:30:15\n12:31:15\n", ":"),  # named parts are meant
        (b"10:75:99\n11:80:61\n", ":"),  # no times
        (b"2024-01-31 10:00:00\n2024-02-01 11:30:00\n", ","),
        (b"00:1b:44:11:3a:b7\n00:1b:44:11:3a:b8\n", ","),
        (b"12 Main Street, Rome\n3 High Street, Oslo\n", "\x1f"),
        (b"http://a.example/x?y=1&z=2\nhttp://b.example/x?y=3&z=4\n", ","),
    ],
)
def test_a_whole_value_outweighs_its_parts(text, sep):
    assert sniff(text).sep == sep


def test_a_dialect_that_reads_every_line_outweighs_one_that_leaves_lines_out():
    found = sniff(b"col1,col2\n1;2;3,4;5;6\n7;8;9,1;2;3\n")
    assert (found.sep, found.skip_rows) == (",", 0)
    assert sniff(b"Report, revised\na;b\n1,5;2\n3,5;4\n").sep == ";"


def test_lines_with_the_separator_are_ragged_records_unless_an_even_table_follows():
    assert sniff(b"a,b,c\n1,2\n3,4,5,6\n7\n8,9\n1,2,3,4,5\n1,2,3,4,5\n1,2,3,4,5\n").skip_rows == 0
    assert sniff(b"Unit,metre\n" + b"1,2,3,4\n" * 10).skip_rows == 1


@pytest.mark.parametrize(
    ("text", "skipped", "columns"),
    [
        (b"TITLE,,,\na,b,c,d\n1,2,3,4\n5,6,7,8\n", 1, ("a", "b", "c", "d")),
        (b"TITLE,,\n,,\nmade,today,\na,b,c\n1,2,3\n4,5,6\n", 3, ("a", "b", "c")),
        (b"1,,\n2,3,4\n5,6,7\n", 0, ("column_1", "column_2", "column_3")),
        (b",a,b\nr1,1,2\nr2,3,4\n", 0, ("column_1", "a", "b")),
    ],
)
def test_padded_lines_are_preamble_where_a_header_follows(text, skipped, columns):
    found = sniff(text)
    assert (found.skip_rows, found.columns) == (skipped, columns)


@pytest.mark.parametrize(
    ("text", "header", "columns"),
    [
        (b",first,,last,\nn,a,b,c,d\nx,1,2,3,4\ny,5,6,7,8\n", (0, 1), ("n", "first_a", "b", "last_c", "d")),
        (b"n,a,b\n,cm,kg\nx,1,2\ny,3,4\n", (0, 1), ("n", "a_cm", "b_kg")),
        (b"n,a,b\nx,NA,NA\ny,3,4\nz,3,4\n", True, ("n", "a", "b")),
        (b"n,a\nAnn,unknown\nBo,12\nCy,13\n", True, ("n", "a")),
    ],
)
def test_two_records_of_names_are_joined(text, header, columns):
    found = sniff(text)
    assert (found.header, found.columns) == (header, columns)
    assert tuple(headrace.read_csv(text, dialect="auto")) == columns


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_header_that_is_there_again_at_once_counts_once(times):
    assert headrace.read_csv(b"a,b\n" * times + b"1,2\n3,4\n", dialect="auto").to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert sniff(b"a,b\na,b\nc,d\na,b\n").skip_rows == 0


def test_a_footer_is_left_out_and_named():
    text = b"x,y\n1,2\n3,4\n\nSource: own count\n"
    found = sniff(text)
    assert (found.skip_footer, found.skipped) == (1, ((5, "Source: own count"),))
    assert "skip_footer=1 leaves out 1 record at the end" in found.evidence
    table = headrace.read_csv(text, dialect="auto")
    assert (table.to_pydict(), table.report.skipped.footer) == ({"x": [1, 3], "y": [2, 4]}, 1)
    table.report.check()


@pytest.mark.parametrize("text", [b"x,y\n1,2\n3,4\n5\n", b"x,y\na,b\nc,d\ne\n", b"x;y\n1;2\n3;4\n5,6\n", b"x,y\n1,2\n3,4\n,\n"])
def test_a_record_that_lacks_fields_is_no_footer(text):
    assert sniff(text).skip_footer == 0


def test_a_sample_that_is_cut_has_no_footer():
    text = b"x,y\n" + b"1,2\n" * 1000 + b"\nend\n"
    assert (sniff(text).skip_footer, sniff(text, sample_bytes=1000).skip_footer) == (1, 0)


@pytest.mark.parametrize(
    ("text", "short", "long", "columns"),
    [
        (b"a,b\n1,2,\n3,4,\n", None, "widen", ("a", "b", "column_3")),
        (b"a,b,\n1,2\n3,4\n", "null", None, ("a", "b", "column_3")),
        (b"a,b\n1,2\n3,4\n5,6,7\n", None, "truncate", ("a", "b")),
        (b"a,b\n1,2\n3\n5,6,7\n8,9\n", "null", "truncate", ("a", "b")),
        (b"a,b\n1,2\n3,4\n", None, None, ("a", "b")),
    ],
)
def test_policies_for_records_of_another_width(text, short, long, columns):
    found = sniff(text)
    assert (found.short_records, found.long_records, found.columns) == (short, long, columns)
    assert ("short_records" in found.options, "long_records" in found.options) == (short is not None, long is not None)
    table = headrace.read_csv(text, dialect="auto")
    assert tuple(table) == columns
    assert set(table.rejects["kind"].to_pylist()) == ({"too_many_fields"} if long == "truncate" else set())


def test_no_policy_is_proposed_where_the_caller_says_what_faults_mean():
    text = b"a,b\n1,2\n3\n5,6,7\n8,9\n"
    assert headrace.read_csv(text, dialect="auto", on_error="reject").report.rejected == 2
    table = headrace.read_csv(text, dialect="auto", short_records="reject")
    assert (table.report.rejected, table["a"].to_pylist()) == (1, [1, 5, 8])


@pytest.mark.parametrize("text", [b'a,b\n1,"x"y\n2,"z, w"\n3,"u, v"\n', b'a,b\n1,"x\n2,"z, w"\n3,"u, v"\n', b'1,"x\n2,z\n3,w\n'])
def test_malformed_quotes_are_never_read_strictly(text):
    found = sniff(text)
    assert found.lenient_quotes or found.quote_char is None
    assert headrace.read_csv(text, dialect="auto").num_rows == 3 - (text[:1] == b"1") * (found.header is True)


@pytest.mark.parametrize("cell", [b'"5" pipe', b'"never closed'])
def test_malformed_quotes_in_the_windows_are_seen(cell):
    rows = b"1,some words,2\n" * 40_000
    end = len(rows) - 150
    for text in (b"a,b,c\n" + rows + b"1," + cell + b",2\n", b"a,b,c\n" + rows[:end] + b"1," + cell + b",2\n" + rows[end:]):
        found = sniff(text)
        assert found.lenient_quotes
        assert "lenient_quotes=True: quotes are malformed further on" in found.evidence
        assert headrace.read_csv(text, dialect="auto").num_rows == 40_001


def test_well_formed_quotes_in_the_windows_need_no_repair():
    rows = b"".join(b'%d,"some\nwords, ""more"" of them",2\n' % i for i in range(20_000))
    assert not sniff(b"a,b,c\n" + b"1,x,2\n" * 50_000 + rows).lenient_quotes


@pytest.mark.parametrize("read", [headrace.read_csv, lambda *source, **options: headrace.scan_csv(*source, **options).read()])
@pytest.mark.parametrize("source", [b"", b"\n\n", [b"", b""]])
@pytest.mark.parametrize("known", [{"names": ["a"]}, {"schema": {"a": "int64"}}])
def test_a_text_without_records_has_the_columns_that_are_given(read, source, known):
    table = read(source, dialect="auto", **known)
    assert (table.num_rows, list(table)) == (0, ["a"])
