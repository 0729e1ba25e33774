"""Tests errors: their messages, the classes that a caller may catch, and that they survive a process boundary."""

from __future__ import annotations

import pickle

import pytest

import headrace
from headrace.core import errors
from headrace.core.errors import (
    HeadraceError,
    MissingDependencyError,
    OptionError,
    OutOfRangeError,
    ParseError,
    UnknownColumnError,
    nearest,
    shown,
)


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("OptionError", ValueError),
        ("SourceError", OSError),
        ("EmptyInputError", ValueError),
        ("ParseError", ValueError),
        ("MemoryLimitError", MemoryError),
        ("UnsupportedDeviceError", RuntimeError),
        ("MissingDependencyError", ImportError),
        ("UnknownColumnError", KeyError),
        ("OutOfRangeError", IndexError),
    ],
)
def test_each_error_is_also_a_builtin(name, builtin):
    error = getattr(errors, name)
    assert issubclass(error, HeadraceError) and issubclass(error, builtin)
    assert getattr(headrace, name) is error


def test_unknown_value_names_the_nearest():
    error = OptionError.unknown("option", "delimeter", ["header", "delimiter"])
    assert str(error) == "unknown option 'delimeter'; did you mean 'delimiter'?"


def test_unknown_value_with_nothing_near_names_all():
    assert str(OptionError.unknown("device", "gpu:0", ["cpu"])) == "unknown device 'gpu:0'; valid: cpu"


def test_a_list_of_valid_values_is_complete_or_left_out():
    assert str(OptionError.unknown("column", "zzz", map(str, range(30)))).endswith("28, 29")
    assert str(OptionError.unknown("column", "zzz", map(str, range(31)))) == "unknown column 'zzz'"
    error = OptionError.unknown("column", "zzz", map(str, range(31)), "table.column_names")
    assert str(error) == "unknown column 'zzz'; table.column_names lists the valid ones"


def test_a_name_is_suggested_only_if_one_or_two_characters_differ():
    assert str(OptionError.unknown("option", "seperater", ["separator"])).endswith("did you mean 'separator'?")
    assert str(OptionError.unknown("option", "chunk_rows", ["chunk_bytes"])).endswith("valid: chunk_bytes")


def test_unknown_value_may_be_no_text():
    assert str(OptionError.unknown("on_error", ["raise"], ["null"])) == "unknown on_error ['raise']; valid: null"


def test_missing_dependency_names_the_extra():
    error = MissingDependencyError.of("pyarrow", "arrow", "to_arrow()")
    assert str(error) == "to_arrow() needs pyarrow; install it with: pip install 'headrace[arrow]'"
    error = MissingDependencyError.of("torch", None, "to_torch()")
    assert str(error) == "to_torch() needs torch; install it as the documentation of torch says"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("True", "unknown header 'True': pass True without quotes"),
        ("false", "unknown header 'false'; pass False without quotes"),
        ("infr", "unknown header 'infr'; did you mean 'infer'?"),
        ("INFER", "unknown header 'INFER'; did you mean 'infer'?"),
        ("batch_rows", "unknown header 'batch_rows'; valid: infer, True, False"),
        ("x" * 1000, f"unknown header '{'x' * 100}'...; valid: infer, True, False"),
        (None, "unknown header None; valid: infer, True, False"),
        ([], "unknown header []; valid: infer, True, False"),
    ],
)
def test_the_nearest_is_named_only_where_it_is_near(value, said):
    assert str(OptionError.unknown("header", value, ["infer", "True", "False"])) == said


def test_a_number_for_a_text_of_digits():
    assert str(OptionError.unknown("column", 1, ["0", "1"])) == "unknown column 1; pass the text '1'"


@pytest.mark.parametrize(
    ("value", "names", "expected"),
    [
        ("int46", ["int16", "int64"], "int64"),
        ("ab", ["ba", "zz"], "ba"),
        ("a", ["b"], None),
        ("header", ["header"], None),
        ("n_rows", ["batch_rows", "nrows"], "nrows"),
        ("", ["a"], None),
        ("row_index", ["n_rows", "row_index_name"], "row_index_name"),
        ("row", ["row_index_name"], None),
    ],
)
def test_nearest(value, names, expected):
    assert nearest(value, names) == expected


def test_shown():
    looped: list[object] = []
    looped.append(looped)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(looped) == "[[...]]"
    assert shown(deep) == "<list>"
    assert shown("a\nb") == r"'a\nb'"
    assert shown(b"x" * 500) == f"{b'x' * 100!r}..."
    assert shown([1] * 500) == "[" + "1, " * 33 + "..."
    assert shown(10**5000) == "<int>"


def test_errors_of_tables_are_pythons_too():
    error = UnknownColumnError.unknown("column", "x", ["a"])
    assert isinstance(error, KeyError) and isinstance(error, OptionError)
    assert str(error) == "unknown column 'x'; valid: a"
    assert issubclass(OutOfRangeError, IndexError)


def fault(**changes):
    fields = {"record": 17, "line": 23, "byte": 912, "column": "age", "kind": "type", "expected": "int64", "text": "abc"}
    return ParseError(**(fields | changes))


def test_parse_error_says_where_what_and_what_to_do():
    assert str(fault()) == (
        "record 17 (line 23, byte 912), column 'age': expected int64, got 'abc'; "
        "pass on_error='null' or 'reject' to go on and find such records in .rejects"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "overflow", "expected": "int8", "text": "300"}, ", column 'age': '300' does not fit int8;"),
        ({"kind": "encoding", "text": "\\xFF"}, ", column 'age': the text is not UTF-8, or not what encoding= names: '\\\\xFF';"),
        (
            {"kind": "too_few_fields", "text": "\0"},
            "'; zero bytes are in UTF-16 (encoding='utf-16-le') and in files that are not",
        ),
        ({"kind": "too_few_fields", "column": None, "text": "1,2"}, "byte 912): too few fields: '1,2';"),
        ({"kind": "too_many_fields", "column": None, "text": "1,2"}, "byte 912): too many fields: '1,2';"),
        (
            {"kind": "unclosed_quote", "column": None, "expected": "a closing quote in line 23", "text": '"x'},
            "the input ends inside quotes that begin here: expected a closing quote in line 23, got '\"x'; "
            "pass lenient_quotes=True, without strict quotes, if this quote is text, or quote_char=None if no field is quoted; "
            "or pass on_error=",
        ),
        (
            {"kind": "quote", "column": None, "text": '"x"y'},
            "text after a closing quote, or a quote in an unquoted field: '\"x\"y'; pass lenient_",
        ),
    ],
)
def test_parse_error_has_words_for_each_kind(changes, said):
    assert said in str(fault(**changes))


def test_parse_error_shows_a_long_text_cut_and_control_characters_written_out():
    message = str(fault(text="\x1b[31m" + "x" * 1_000_000))
    assert "\x1b" not in message and "..." in message and len(message) < 400


def test_parse_error_has_its_facts_as_attributes():
    error = fault()
    assert (error.record, error.line, error.byte, error.column) == (17, 23, 912, "age")
    assert (error.kind, error.expected, error.text) == ("type", "int64", "abc")


def test_parse_error_survives_pickling():
    error = pickle.loads(pickle.dumps(fault(column=None)))
    assert isinstance(error, ParseError) and str(error) == str(fault(column=None)) and error.line == 23
