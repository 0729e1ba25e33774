"""Tests the table of options: the values that reach `read_csv` and `scan_csv`, and their names."""

from __future__ import annotations

import inspect

import pytest

import headrace
from headrace import OptionError, read_csv, scan_csv
from headrace.api.options.csv_options import parse_options, resolve_names
from headrace.api.options.table import ALIASES, DEFAULTS

TEXT = b"a;b\n1;2\n"


def test_scan_csv_shows_all_options_of_read_csv() -> None:
    scanning, reading = inspect.signature(scan_csv).parameters, inspect.signature(read_csv).parameters
    own = ["batch_bytes", "memory_limit", "infer", "resume", "to", "where"]
    assert list(scanning) == ["source", *own, *list(reading)[1:]]
    assert all(scanning[name] == reading[name] for name in DEFAULTS)


@pytest.mark.parametrize("function", [read_csv, scan_csv])
def test_a_wrong_name_is_an_error_that_names_the_nearest(function) -> None:
    with pytest.raises(OptionError, match=r"unknown option 'delimeter'.*did you mean 'delimiter'"):
        function(TEXT, delimeter=";")
    with pytest.raises(OptionError, match="sep and its other name delimiter are both given"):
        function(TEXT, sep=";", delimiter="|")


def test_scan_csv_takes_other_names() -> None:
    (batch,) = scan_csv(TEXT, delimiter=";", nrows=1).batches()
    assert batch.to_pydict() == {"a": [1], "b": [2]}


def test_the_defaults_parse_and_are_those_of_read_csv() -> None:
    assert read_csv.__kwdefaults__ == DEFAULTS
    options = parse_options(*resolve_names({}, {}))
    assert options.dialect == headrace.Dialect()
    assert parse_options(*resolve_names({}, {"delim": ";"})).dialect.sep == b";"


def test_other_names_are_no_options() -> None:
    assert not ALIASES.keys() & DEFAULTS.keys()
    assert set(ALIASES.values()) <= DEFAULTS.keys()
