"""Errors: what they say to a person, what a caller may catch them as, and that they survive a process boundary."""

from __future__ import annotations

import pickle

import pytest

import headrace
from headrace.core import errors
from headrace.core.errors import HeadraceError, MissingDependencyError, OptionError, ParseError


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


def test_unknown_value_says_that_its_list_is_cut():
    assert str(OptionError.unknown("column", "zzz", map(str, range(31)))).endswith("28, 29, ...")
    assert str(OptionError.unknown("column", "zzz", map(str, range(30)))).endswith("28, 29")


def test_unknown_value_may_be_no_text():
    assert str(OptionError.unknown("on_error", ["raise"], ["null"])) == "unknown on_error ['raise']; valid: null"


def test_missing_dependency_names_the_extra():
    error = MissingDependencyError.of("pyarrow", "arrow", "to_arrow()")
    assert str(error) == "to_arrow() needs pyarrow; install it with: pip install 'headrace[arrow]'"


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
        ({"kind": "too_few_fields", "column": None, "text": "1,2"}, "byte 912): too few fields: '1,2';"),
        ({"kind": "too_many_fields", "column": None, "text": "1,2"}, "byte 912): too many fields: '1,2';"),
        ({"kind": "unclosed_quote", "column": None, "text": '"x'}, "the input ends inside quotes that begin here: '\"x';"),
        ({"kind": "quote", "column": None, "text": '"x"y'}, "text behind a closing quote: '\"x\"y';"),
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
