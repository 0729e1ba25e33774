"""Options: other names, hints for unknown ones, and values that are refused with what was received."""

from __future__ import annotations

import re

import numpy as np
import pytest

import headrace
from headrace.core.errors import OptionError
from headrace.core.options import Given, resolve_aliases

ALIASES = {"delimiter": "sep", "delim": "sep", "na_values": "null_values"}
DEFAULTS = {"sep": ",", "null_values": ("",), "names": None}


def resolve(extra, **given):
    return resolve_aliases(DEFAULTS | given, extra, ALIASES, DEFAULTS)


def refused(message):
    return pytest.raises(OptionError, match=f"^{re.escape(message)}$")


def test_alias_gives_its_option():
    assert resolve({"delim": ";", "na_values": "-"}) == {"sep": ";", "null_values": "-", "names": None}


def test_options_under_their_own_names_stay():
    assert resolve({}, sep="|") == DEFAULTS | {"sep": "|"}


def test_given_options_are_not_changed_in_place():
    given = dict(DEFAULTS)
    resolve_aliases(given, {"delim": ";"}, ALIASES, DEFAULTS)
    assert given == DEFAULTS


def test_unknown_option_names_the_nearest_of_options_and_aliases():
    with refused("unknown option 'delimter'; did you mean 'delimiter'?"):
        resolve({"delimter": ";"})
    with refused("unknown option 'nul_values'; did you mean 'null_values'?"):
        resolve({"nul_values": ";"})


def test_option_and_its_alias_are_refused_together():
    with refused("sep and its other name delim are both given; pass one of them"):
        resolve({"delim": ";"}, sep="|")


def test_two_aliases_of_one_option_are_refused_together():
    with refused("delimiter and delim are both sep; pass one of them"):
        resolve({"delimiter": ";", "delim": ";"})


def test_array_is_compared_with_no_default():
    with pytest.raises(OptionError, match="names and its other name column_names are both given"):
        headrace.read_csv(b"1,2\n", names=np.array(["a", "b"]), column_names=["x", "y"])


@pytest.mark.parametrize("value", [1, 0, None, "yes", np.True_])
def test_flag_is_a_bool_and_nothing_else(value):
    assert Given({"shrink": True}).flag("shrink") is True
    with refused(f"shrink must be True or False, not {value!r}"):
        Given({"shrink": value}).flag("shrink")


def test_choice_names_the_nearest():
    assert Given({"on_error": "null"}).choice("on_error", ("raise", "null")) == "null"
    with refused("unknown on_error 'rais'; did you mean 'raise'?"):
        Given({"on_error": "rais"}).choice("on_error", ("raise", "null"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", (b"",)),
        ("NA", (b"NA",)),
        (b"\xff", (b"\xff",)),
        (["NA", "", "NA", b"NA"], (b"NA", b"")),
        ((), ()),
        (iter(["é"]), (b"\xc3\xa9",)),
    ],
)
def test_texts_are_one_or_several(value, expected):
    assert Given({"null_values": value}).texts("null_values") == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "null_values must be a text or several, not None"),
        (3, "null_values must be a text or several, not 3"),
        (["NA", 3], "null_values holds 3, which is no text"),
        ("\ud800", r"null_values holds '\ud800', which UTF-8 cannot write"),
        # Texts by column: to take only the names of the columns would null the wrong fields, and quietly.
        ({"a": ["NA"]}, "null_values holds for all columns, so it must be a text or several, not {'a': ['NA']}"),
    ],
)
def test_texts_of_another_kind_are_refused(value, message):
    with refused(message):
        Given({"null_values": value}).texts("null_values")


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "2"])
def test_count_is_positive_and_whole_or_none(value):
    assert Given({"threads": None}).count("threads") is None
    assert Given({"threads": 2}).count("threads") == 2
    with refused(f"threads must be a positive whole number or None, not {value!r}"):
        Given({"threads": value}).count("threads")


def test_instance_is_of_its_class():
    context = headrace.Context()
    assert Given({"context": context}).instance("context", headrace.Context) is context
    with refused("context must be a Context, not 4"):
        Given({"context": 4}).instance("context", headrace.Context)
