"""The dialect on texts written by hand, read by the rules and by the table."""

from __future__ import annotations

import subprocess
import sys

import pytest

from headrace.core.errors import OptionError
from headrace.structure.automaton import Automaton, Emit
from headrace.structure.dialect import CSV, PIPE, TSV, Dialect
from headrace.testing.oracle import OracleStructure, field_text, split, split_by_automaton


def read(data: bytes, dialect: Dialect = CSV) -> OracleStructure:
    """The structure, which both readers must agree on."""
    structure = split(data, dialect)
    assert split_by_automaton(data, dialect.automaton) == structure
    return structure


def cells(data: bytes, dialect: Dialect = CSV) -> list[list[bytes]]:
    """Contents of the fields of every record that is no comment."""
    records = [record for record in read(data, dialect).records if not record.comment]
    return [[field_text(data, start, end, dialect)[0] for start, end in record.fields] for record in records]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a", [[b"a"]]),
        (b"a,b\nc,d\n", [[b"a", b"b"], [b"c", b"d"]]),
        (b"a,b\nc,d", [[b"a", b"b"], [b"c", b"d"]]),
        (b",", [[b"", b""]]),
        (b"a,\n,b\n", [[b"a", b""], [b"", b"b"]]),
        (b'"a\nb",c\n', [[b"a\nb", b"c"]]),
        (b'"a,b",c\n', [[b"a,b", b"c"]]),
        (b'"a""b",""\n', [[b'a"b', b""]]),
        (b'""""\n', [[b'"']]),
        (b"a\r\nb\rc\nd", [[b"a"], [b"b"], [b"c"], [b"d"]]),
        (b'"a"\r\n"b"\r', [[b"a"], [b"b"]]),
        ("å,€\n".encode(), [["å".encode(), "€".encode()]]),
        (b"\xff,\x00\n", [[b"\xff", b"\x00"]]),
    ],
)
def test_csv(data: bytes, expected: list[list[bytes]]) -> None:
    assert cells(data) == expected


@pytest.mark.parametrize(
    ("sep", "data", "expected"),
    [
        ("||", b"a||b|c||\n", [[b"a", b"b|c", b""]]),
        ("||", b"a|||b", [[b"a", b"|b"]]),
        ("||", b"|a||||b", [[b"|a", b"", b"b"]]),
        ("||", b'"x||y"||z', [[b"x||y", b"z"]]),
        ("aab", b"aaab", [[b"a", b""]]),
        ("aab", b"aaaabaab", [[b"aa", b"", b""]]),
        ("abab", b"ababab", [[b"", b"ab"]]),
        ("→", "1→2".encode(), [[b"1", b"2"]]),
        ("→", "1←2".encode(), [["1←2".encode()]]),
        ("\0", b"a\0b", [[b"a", b"b"]]),
    ],
)
def test_separators(sep: str, data: bytes, expected: list[list[bytes]]) -> None:
    assert cells(data, Dialect(sep=sep)) == expected


@pytest.mark.parametrize(
    ("line_end", "data", "expected"),
    [
        ("\n", b"a\r\nb\rc\n", [[b"a\r"], [b"b\rc"]]),
        ("\r\n", b"a\r\nb\nc\r\r\n", [[b"a"], [b"b\nc\r"]]),
        ("\r", b"a\r\nb\r", [[b"a"], [b"\nb"]]),
        (";", b"a,b;c\n,d;", [[b"a", b"b"], [b"c\n", b"d"]]),
        (";;", b"a;b;;c;;;d", [[b"a;b"], [b"c"], [b";d"]]),
        ("\n\n;", b"\n\n\n;x", [[b"\n"], [b"x"]]),
    ],
)
def test_line_ends(line_end: str, data: bytes, expected: list[list[bytes]]) -> None:
    assert cells(data, Dialect(lineterminator=line_end)) == expected


def test_offsets_of_fields_leave_delimiters_out_and_quotes_in() -> None:
    (record,) = read(b'"a"||b\r\n', Dialect(sep="||", lineterminator="\r\n")).records
    assert (record.start, record.end, record.fields) == (0, 6, [(0, 3), (5, 6)])


def test_comment_lines_are_records_of_one_range() -> None:
    structure = read(b'#x,"y\na#b,c\n#\n', Dialect(comment="#"))
    assert [(r.comment, r.fields) for r in structure.records] == [
        (True, [(0, 5)]),
        (False, [(6, 9), (10, 11)]),
        (True, [(12, 13)]),
    ]


def test_comment_prefix_that_breaks_off_is_data() -> None:
    structure = read(b"/a,b\n//c\n/\n/", Dialect(comment="//"))
    assert [(r.comment, r.fields) for r in structure.records] == [
        (False, [(0, 2), (3, 4)]),
        (True, [(5, 8)]),
        (False, [(9, 10)]),
        (False, [(11, 12)]),
    ]


def test_blank_lines() -> None:
    data = b"\n\r\na\r\n\r\n\r\nb\n\n"
    assert cells(data) == [[b"a"], [b"b"]]
    assert read(data).blank_lines == 5
    assert cells(data, Dialect(skip_blank_lines=False)) == [[b""], [b""], [b"a"], [b""], [b""], [b"b"], [b""]]


def test_blank_lines_of_a_long_line_end() -> None:
    data = b"\r\na\r\n\r\n\r\r\n"
    assert cells(data, Dialect(lineterminator="\r\n")) == [[b"a"], [b"\r"]]
    assert read(data, Dialect(lineterminator="\r\n")).blank_lines == 2
    assert cells(data, Dialect(lineterminator="\r\n", skip_blank_lines=False)) == [[b""], [b"a"], [b""], [b"\r"]]


@pytest.mark.parametrize(
    ("data", "options", "strays"),
    [
        (b'a"b",c', {}, []),
        (b'a"b"c,d', {}, []),
        (b'a"b",c', {"strict_quotes": True}, [1, 3]),
        (b'a"b"c,"d"', {"strict_quotes": True}, [1, 3]),
        (b'"a"b,c', {}, [3]),
        (b'"a"b"c,d', {}, [3]),
        (b'"a"b"c,d', {"strict_quotes": True}, [3, 4]),
        (b'"a" ,c', {}, [3]),
        (b'"a""b"', {"double_quote": False}, [3]),
        (b'"a""b"', {"double_quote": False, "lenient_quotes": True}, [3, 4]),
        (b'|"x"||y', {"sep": "||"}, []),
        (b'|"x"||y', {"sep": "||", "strict_quotes": True}, [1, 3]),
        (b'/"x"', {"comment": "//", "strict_quotes": True}, [1, 3]),
        (b'\r"x"', {"lineterminator": "\r\n", "strict_quotes": True}, [1, 3]),
        (b'"x"|y||z', {"sep": "||"}, [4]),
        (b'"x"|"y"||z', {"sep": "||"}, [4]),
        (b'"x"|\n', {"sep": "||"}, [4]),
        (b'"x"aaab', {"sep": "aab"}, [5]),
        (b'"x"|', {"sep": "||"}, [4]),
        (b'"x"\\n', {"escape_char": "\\"}, [3]),
    ],
)
def test_strays(data: bytes, options: dict[str, str | bool], strays: list[int]) -> None:
    dialect = Dialect(**options)  # type: ignore[arg-type]
    assert read(data, dialect).records[0].strays == strays


@pytest.mark.parametrize(
    ("data", "unclosed"),
    [(b'a\n"b\n', True), (b'"a""', True), (b'"a"', False), (b'"a\\', True), (b"a\\", False), (b'#"', False)],
)
def test_unclosed(data: bytes, unclosed: bool) -> None:
    assert read(data, Dialect(escape_char="\\", comment="#")).records[-1].unclosed is unclosed


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b'"a"', {}, (b"a", True)),
        (b"a", {}, (b"a", False)),
        (b'""', {}, (b"", True)),
        (b"", {}, (b"", False)),
        (b'a""b', {}, (b'a""b', False)),
        (b'"a""b"', {}, (b'a"b', True)),
        (b'"a"b"c"', {}, (b'ab"c"', True)),
        (b'"a', {}, (b"a", True)),
        (b'"a\\"b"', {"escape_char": "\\"}, (b'a"b', True)),
        (b'"a\\"', {"escape_char": "\\", "double_quote": False}, (b'a"', True)),
        (b"a\\,b\\\\", {"escape_char": "\\"}, (b"a,b\\", False)),
        (b"a\\", {"escape_char": "\\"}, (b"a\\", False)),
        (b"\\n", {"escape_char": "\\"}, (b"n", False)),
        (b"  a b ", {"skip_initial_space": True}, (b"a b ", False)),
        (b'  " a"', {"skip_initial_space": True}, (b" a", True)),
        (b"  a b  ", {"strip": True}, (b"a b", False)),
        (b'  " a "  ', {"strip": True}, (b" a ", True)),
        (b'  ""  ', {"strip": True}, (b"", True)),
        (b"   ", {"strip": True}, (b"", False)),
        (b"  a", {}, (b"  a", False)),
        (b'"a"', {"quote_char": None}, (b'"a"', False)),
    ],
)
def test_field_text(data: bytes, options: dict[str, str | bool], expected: tuple[bytes, bool]) -> None:
    assert field_text(data, 0, len(data), Dialect(**options)) == expected  # type: ignore[arg-type]


def test_skip_initial_space() -> None:
    data = b'  "a,b", c\n  \n #d\n'
    assert cells(data, Dialect(skip_initial_space=True, comment="#")) == [[b"a,b", b"c"], [b""], [b"#d"]]
    assert cells(b'a "b, c\n', Dialect(skip_initial_space=True)) == [[b'a "b', b"c"]]  # a quote after data opens no field


def test_strip() -> None:
    data = b'  "a,b"  , c \n x y  ,"" \n  \n'
    assert cells(data, Dialect(strip=True)) == [[b"a,b", b"c"], [b"x y", b""], [b""]]
    assert Dialect(strip=True).skip_initial_space
    automaton = Dialect(strip=True).automaton
    assert automaton.states[automaton.run(0, b'"a" ')] == "PADDED"
    stray = automaton.step(automaton.run(0, b'"a" '), ord("b"))
    assert stray[1] & Emit.STRAY


def test_the_table_of_csv() -> None:
    """No sink state: a malformed quote is an emit, and reading continues."""
    csv = CSV.automaton
    assert csv.states == ("START", "CR", "FIELD_START", "UNQUOTED", "QUOTED", "QUOTE_END")
    assert csv.groups == (r"\n", r"\r", ",", '"', "other")
    assert (csv.idle, csv.quoted, csv.comment) == ({0, 1}, {4}, set())
    assert csv.next == (b"\0\0\0\0\4\0", b"\1\1\1\1\4\1", b"\2\2\2\2\4\2", b"\4\4\4\3\5\4", b"\3\3\3\3\4\3")
    assert csv.emit == (b"\x10\0\1\1\0\1", b"\x10\x10\1\1\0\1", b"\6\6\2\2\0\2", b"\4\4\0\0\0\0", b"\4\4\0\0\0\x08")
    assert Dialect(strict_quotes=True).automaton.next == csv.next
    assert csv.class_of[ord(",")] == 2
    assert csv.class_of[ord("x")] == csv.class_of[255] == 4


def test_the_table_prints() -> None:
    lines = str(Dialect(sep="||", quote_char=None, lineterminator="\n").automaton).splitlines()
    assert lines == [
        "       START            FIELD_START   UNQUOTED      UNQUOTED+|",
        r"\n     START/BLANK      START/RECORD  START/RECORD  START/RECORD",
        "|      UNQUOTED+|/OPEN  UNQUOTED+|/-  UNQUOTED+|/-  FIELD_START/FIELD",
        "other  UNQUOTED/OPEN    UNQUOTED/-    UNQUOTED/-    UNQUOTED/-",
    ]


def test_step_and_run() -> None:
    csv = CSV.automaton
    assert csv.step(0, ord(",")) == (2, Emit.OPEN | Emit.FIELD)
    assert csv.states[csv.run(0, b'a,"b""')] == "QUOTED"
    assert csv.state_map(b'"') == csv.next[3]


def test_only_universal_line_ends_wait_for_a_line_feed() -> None:
    assert "CR" in CSV.automaton.states
    assert "CR" not in Dialect(lineterminator="\r").automaton.states


def test_states_of_quotes_and_comments() -> None:
    table = Dialect(escape_char="\\", comment="#", lineterminator="\r\n").automaton
    assert {table.states[s] for s in table.quoted} == {"QUOTED", "ESC_Q"}
    assert {table.states[s] for s in table.comment} == {"COMMENT", r"COMMENT+\r"}
    assert {table.states[s] for s in table.idle} == {"START"}
    assert (table.sep_length, table.line_end_length) == (1, 2)


def test_dialects_are_values() -> None:
    assert Dialect(sep="\t") == TSV == Dialect(sep=b"\t")
    assert hash(PIPE) == hash(Dialect(sep="|"))
    assert Dialect(sep="\t").automaton is TSV.automaton
    assert isinstance(hash(CSV.automaton), int)
    assert isinstance(CSV.automaton, Automaton)
    with pytest.raises(AttributeError):
        CSV.sep = b";"  # type: ignore[misc]


def test_escape_equal_to_quote_is_a_doubled_quote() -> None:
    assert Dialect(escape_char='"', double_quote=False) == CSV


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sep": ""}, "sep must be 1 to 8 bytes long, but '' is 0"),
        ({"sep": "123456789"}, "sep must be 1 to 8 bytes long"),
        ({"sep": 44}, "sep must be str or bytes, not int"),
        ({"sep": None}, "sep must be str or bytes, not NoneType"),
        ({"sep": "\ud800"}, "sep must be encodable as UTF-8"),
        ({"quote_char": "€"}, "quote_char must be one byte long"),
        ({"quote_char": ""}, "quote_char must be one byte long"),
        ({"escape_char": "ab"}, "escape_char must be one byte long"),
        ({"comment": ""}, "comment must be 1 to 8 bytes long"),
        ({"lineterminator": "123456789"}, "lineterminator must be 1 to 8 bytes long"),
        ({"double_quote": 1}, "double_quote must be True or False, not 1"),
        ({"sep": '"'}, "sep and quote_char share the byte b'\"'"),
        ({"sep": "\\", "escape_char": "\\"}, r"sep and escape_char share the byte b'\\\\'"),
        ({"sep": "#|", "comment": "//#"}, "sep and comment share the byte b'#'"),
        ({"sep": "|\n"}, r"sep and lineterminator share the byte b'\\n' \(lineterminator=None stands for LF, CR and CRLF\)"),
        ({"sep": ";|", "lineterminator": "\n;"}, "sep and lineterminator share the byte b';'; each"),
        ({"quote_char": "\r"}, r"quote_char and lineterminator share the byte b'\\r' \(lineterminator=None"),
        ({"quote_char": "#", "comment": "#"}, "quote_char and comment share"),
        ({"escape_char": "#", "comment": "##"}, "escape_char and comment share"),
        ({"escape_char": ";", "lineterminator": ";"}, "escape_char and lineterminator share"),
        ({"comment": "\n"}, "comment and lineterminator share"),
        ({"sep": " ", "skip_initial_space": True}, "sep may not start with a space when skip_initial_space is True"),
        ({"sep": " ", "strip": True}, "sep may not start with a space when strip is True"),
        ({"sep": "||", "strip": True}, "with strip=True, sep must be one byte"),
        ({"lineterminator": "\r\n", "strip": True}, "with strip=True, lineterminator must be one byte"),
        ({"escape_char": "\\", "strip": True}, "strip and escape_char exclude each other"),
        ({"lenient_quotes": True, "strip": True}, "strip and lenient_quotes exclude each other"),
    ],
)
def test_misuse(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Dialect(**options)  # type: ignore[arg-type]


def test_bytes_of_no_conflict_are_accepted() -> None:
    assert Dialect(sep="\r", lineterminator="\n").sep == b"\r"
    assert Dialect(sep=", ", skip_initial_space=True).sep == b", "
    assert Dialect(sep="\0", quote_char="\x01").quote_char == b"\x01"
    assert Dialect(sep="\udcff").sep == b"\xff"


def test_import_needs_no_array_library() -> None:
    slow = {"numpy", "pyarrow", "hypothesis", "ctypes", "bz2", "concurrent.futures", "headrace.gpu.kernels.kernel"}
    code = f"import sys, headrace; print({slow} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
