"""Options: other names, hints for unknown ones, and values that are refused with what was received."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest

import headrace
from headrace.api.options.table import ALIASES as TABLE_ALIASES
from headrace.api.options.table import DEFAULTS as TABLE_DEFAULTS
from headrace.core.errors import OptionError
from headrace.core.options import Given, frozen, integer, number, resolve_aliases

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


@pytest.mark.parametrize("value", [1, 0, None, "yes", 1.0])
def test_flag_is_a_bool_and_nothing_else(value):
    assert Given({"shrink": True}).flag("shrink") is True
    assert Given({"shrink": np.True_}).flag("shrink") is True
    with refused(f"shrink must be True or False, not {value!r}"):
        Given({"shrink": value}).flag("shrink")


@pytest.mark.parametrize(("value", "meant"), [("True", True), ("true", True), ("FALSE", False)])
def test_a_text_for_a_flag_is_told_from_the_flag(value, meant):
    with refused(f"shrink must be True or False, not {value!r}; pass shrink={meant} without quotes"):
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
        (["NA", 3], "null_values holds 3, which is not a text"),
        ("\ud800", r"null_values holds '\ud800', which UTF-8 cannot write"),
        # Texts by column: to take only the names of the columns would null the wrong fields, and quietly.
        ({"a": ["NA"]}, "null_values holds for all columns, so it must be a text or several, not {'a': ['NA']}"),
    ],
)
def test_texts_of_another_kind_are_refused(value, message):
    with refused(message):
        Given({"null_values": value}).texts("null_values")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0"),
        (-1, "-1"),
        (1.0, "1.0; pass threads=1"),
        (1.5, "1.5"),
        (float("nan"), "nan"),
        (True, "True"),
        ("2", "'2'; pass threads=2 without quotes"),
        ("0", "'0'"),
        (np.array([2]), "array([2])"),
        (np.True_, "np.True_"),
    ],
)
def test_count_is_positive_and_whole_or_none(value, said):
    assert Given({"threads": None}).count("threads") is None
    assert Given({"threads": 2}).count("threads") == 2
    with refused(f"threads must be a positive integer or None, not {said}"):
        Given({"threads": value}).count("threads")


@pytest.mark.parametrize("value", [np.int8(3), np.uint64(3), 3])
def test_integers_of_numpy_are_integers(value):
    found = integer("k", value, "an integer", 0, 3)
    assert found == 3 and type(found) is int


@pytest.mark.parametrize(
    ("value", "expected"), [(2, 2), (np.int16(2), 2), (0.5, 0.5), (np.float32(0.5), 0.5), (np.float64(2), 2.0)]
)
def test_numbers(value, expected):
    assert number("low", value, "a number") == expected


@pytest.mark.parametrize("value", [True, "1", None, 1j, np.array(1.5), [1], Decimal(1)])
def test_what_is_no_number(value):
    with pytest.raises(OptionError, match=r"^low must be a number, not "):
        number("low", value, "a number")


def test_a_list_in_itself_is_refused_and_not_followed():
    value: list[object] = []
    value.append(value)
    assert frozen(value) is None
    with refused("null_values holds [[...]], which is not a text"):
        Given({"null_values": value}).texts("null_values")


def test_instance_is_of_its_class():
    context = headrace.Context()
    assert Given({"context": context}).instance("context", headrace.Context) is context
    with refused("context must be a Context, not 4"):
        Given({"context": 4}).instance("context", headrace.Context)


@pytest.mark.parametrize(
    ("call", "options"),
    [
        (headrace.read_csv, {"sep": ",", "delimiter": ";"}),
        (headrace.read_csv, {"quotechar": "'", "quote_char": '"'}),
        (headrace.read_csv, {"double_quote": True, "doublequote": False}),
        (headrace.scan_csv, {"sep": ",", "delimiter": ";"}),
        (headrace.sniff_csv, {"sep": ",", "delimiter": ";"}),
        (lambda text, **options: headrace.write_csv(headrace.read_csv(text), **options), {"sep": ",", "delimiter": ";"}),
    ],
)
def test_an_option_with_its_default_is_refused_beside_its_alias(call, options):
    with pytest.raises(OptionError, match=r"^(\w+) and its other name \w+ are both given; pass one of them$"):
        call(b"a;b\n1;2\n", **options)


@pytest.mark.parametrize("alias", sorted(TABLE_ALIASES))
def test_every_alias_is_refused_beside_its_option(alias):
    own = TABLE_ALIASES[alias]
    value = TABLE_DEFAULTS[own]
    value = 1 if value is None else value
    with refused(f"{own} and its other name {alias} are both given; pass one of them"):
        headrace.read_csv(b"a;b\n1;2\n", **{own: value, alias: value})


def test_sniff_csv_takes_the_names_of_other_readers():
    assert headrace.sniff_csv(b"a;b,c\n1;2,3\n", delimiter=";").sep == ";"
    with refused("separator and delimiter are both sep; pass one of them"):
        headrace.sniff_csv(b"a;b\n1;2\n", separator=",", delimiter=";")


@pytest.mark.parametrize("call", [headrace.read_csv, headrace.scan_csv, headrace.sniff_csv])
def test_none_is_refused_beside_an_option_for_which_it_is_a_value(call):
    with refused("quote_char and its other name quotechar are both given; pass one of them"):
        call(b'a,b\n"1,2",3\n', quote_char='"', quotechar=None)
    with refused("quote and quotechar are both quote_char; pass one of them"):
        call(b'a,b\n"1,2",3\n', quote=None, quotechar='"')


def test_a_text_is_not_written_without_quotes_if_a_quote_is_given():
    with refused("quote_char and its other name quotechar are both given; pass one of them"):
        headrace.write_csv(headrace.read_csv(b"a\n1\n"), quote_char='"', quotechar=None)


def test_none_under_a_name_of_other_readers_is_the_default():
    text = b"a;b,c\n1;2,3\n"
    assert headrace.sniff_csv(text, sep=";", delimiter=None).sep == ";"
    assert headrace.read_csv(text, sep=",", delimiter=None).to_pydict() == {"a;b": ["1;2"], "c": [3]}
