"""Tests the compilation of expressions: classes, characters in UTF-8, errors and their positions, and sizes."""

from __future__ import annotations

import pickle
import re
import string
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headrace
from headrace import Dfa, OptionError

_A = bytes(int(byte == ord("a")) for byte in range(256))


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        (r"\d\w\s", ["1_ ", "9Z\v"], ["a_ ", "1- ", "1__", "١_ "]),
        (r"\D\W\S", ["a-b", "é€a"], ["1-b", "aab", "a- "]),
        (".", ["a", "é", "€", "😀", "\r"], ["\n", "", "ab"]),
        ("[^a]", ["b", "😀", "\n"], ["a"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[^]a]", ["b"], ["]", "a"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[é-ü]", ["é", "ü", "ö"], ["è", "ý", "e"]),
        (r"[\d\-_]", ["5", "-", "_"], ["a"]),
        ("[[:alpha:]_]", ["a", "Z", "_"], ["[", ":", "1", "é", "a]"]),
        ("[^[:space:][:punct:]]", ["a", "5", "é"], [" ", "\v", "!", "~", "[", "_"]),
        ("[[:digit:][:upper:]]{2}", ["A1"], ["a1", ":]"]),
        ("[[:blank:][:xdigit:]]", ["\t", "f"], ["\n", "g"]),
        ("[a[]", ["a", "["], ["]"]),
        (r"[\[:a]", ["[", ":", "a"], ["b"]),
        (r"\x41\u00e9\U0001f600", ["Aé😀"], ["A"]),
        (r"\.\*\\\n\t\0", [".*\\\n\t\0"], []),
        ("a{2,3}", ["aa", "aaa"], ["a", "aaaa"]),
        ("a{,2}b{2,}", ["bb", "abbb"], ["ab", "aaabb"]),
        ("a{x}", ["a{x}"], ["a"]),
        ("{a", ["{a"], []),
        ("(a|b(c|))*", ["", "aba", "bca"], ["c"]),
        ("", [""], ["a"]),
        ("a||b", ["", "a", "b"], []),
        ("^a$", ["a"], ["b"]),
        ("a$b", [], ["ab"]),
        ("a$\n^b", ["a\nb"], ["a\n"]),
    ],
)
def test_syntax(pattern: str, accepted: list[str], refused: list[str]) -> None:
    dfa = headrace.compile_regex(pattern)
    assert [text for text in accepted if not dfa.accepts(text.encode())] == []
    assert [text for text in refused if dfa.accepts(text.encode())] == []


def test_counts_have_ascii_digits() -> None:
    assert headrace.compile_regex("a{\u0663}").accepts("a{\u0663}".encode())
    assert headrace.compile_regex("a{" + "0" * 5000 + "2}").accepts(b"aa")


def test_bytes() -> None:
    assert headrace.compile_regex(rb".\xff").accepts(b"\xc3\xff") and not headrace.compile_regex(rb".").accepts("é".encode())
    assert not headrace.compile_regex(".").accepts(b"\xff")
    assert not any(
        headrace.compile_regex(".").accepts(text) for text in (b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80")
    )


def test_every_character_is_matched_by_its_form() -> None:
    dot, word = headrace.compile_regex(r"(?:.|\n)"), headrace.compile_regex(r"[^\W\d_]", ignore_case=True)
    for value in [*range(0x900), *range(0xD000, 0xD800, 7), *range(0xE000, 0x110000, 997), 0xFFFF, 0x10000, 0x10FFFF]:
        assert dot.accepts(chr(value).encode())
        assert word.accepts(chr(value).encode()) == bool(re.fullmatch("[a-zA-Z]", chr(value)))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a(b", "not closed at position 1"),
        ("a)b", "closed that is not open at position 1"),
        ("[ab", "not closed at position 0"),
        ("a*?", "lazy repetition .* at position 2"),
        ("a++", "possessive .* at position 2"),
        ("a**", "repeated; use a group at position 2"),
        ("a{2}{3}", "repeated"),
        ("*a", "nothing to repeat at position 0"),
        ("{2}", "nothing to repeat"),
        ("^*", "nothing to repeat"),
        ("a{3,2}", "below its minimum"),
        ("a{1001}", "more than 1000 times"),
        ("a{" + "9" * 5000 + "}", "more than 1000 times at position 1"),
        ("a{2," + "9" * 5000 + "}", "more than 1000 times at position 1"),
        ("(?=a)", "look-around, names and flags .* at position 0"),
        ("(?P<x>a)", "names"),
        (r"(a)\1", "back-references and octal numbers are not in the subset at position 3"),
        (r"\bword", r"\\b is not in the subset at position 0"),
        (r"\x4", "2 hexadecimal digits"),
        (r"\ud800", "no UTF-8 form"),
        ("a\\", "backslash ends"),
        ("[b-a]", "from a lower one to a higher"),
        (r"[\d-z]", "from a lower one to a higher"),
        ("[[:alhpa:]]", r"\[: begins no class; the classes are \[:alnum:\].*, and a bracket is written .*position 1"),
        ("[[:alpha]", "begins no class"),
        ("x[[.a.]]", "begins no class.* position 2"),
        ("[[=a=]]", "begins no class"),
        ("[[:digit:]-z]", "from a lower one to a higher"),
        ("[:alpha:]", r"write \[\[:alpha:\]\] at position 0"),
        (".{200}", "states"),
        ("(.?){1000}", "more than 400000 visits of nodes .* use fewer repetitions"),
        ("a.{9}b", "backward needs more than 256 states"),
        ("((a{1000}){1000}){1000}", "nodes"),
        ("(" * 60 + ")" * 60, "nested"),
        (5, "str or bytes"),
        (None, "str or bytes"),
    ],
)
def test_wrong_expressions(pattern: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        headrace.compile_regex(pattern)


POSIX_CLASSES = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": "\t ".__contains__,
    "cntrl": lambda c: not c.isprintable(),
    "digit": str.isdigit,
    "graph": lambda c: c.isprintable() and c != " ",
    "lower": str.islower,
    "print": str.isprintable,
    "punct": string.punctuation.__contains__,
    "space": string.whitespace.__contains__,
    "upper": str.isupper,
    "xdigit": string.hexdigits.__contains__,
}


@pytest.mark.parametrize("name", POSIX_CLASSES)
def test_classes_of_posix_are_those_of_ascii(name: str) -> None:
    dfa, other = headrace.compile_regex(f"[[:{name}:]]"), headrace.compile_regex(f"[^[:{name}:]]".encode())
    for byte in range(128):
        character = chr(byte)
        assert dfa.accepts(character.encode()) == POSIX_CLASSES[name](character) != other.accepts(character.encode())
    assert not dfa.accepts("é".encode())


_PARTS = [
    "a",
    "b",
    "é",
    ".",
    r"\w",
    r"\W",
    "[a-m]",
    "[^b]",
    "a?",
    ".?",
    ".*",
    "(a|b)",
    "(a?b?)*",
    "|",
    "^",
    "$",
    "a{3}",
    "(x|.)+",
]


@given(st.lists(st.sampled_from(_PARTS), min_size=1, max_size=6), st.sampled_from(["", "{1000}", "*", "{,40}"]), st.booleans())
@settings(max_examples=10)
@example(["(a|b)", "a", ".?", ".?"], "", True)
@example(["[a-m]"] + [".?"] * 5, "", True)
@example(["(" * 49 + "()" + "){1000}" * 49], "", False)
@example(["(" * 49 + "a?" + "){2}" * 49], "{1000}", False)
@example(["".join(f"|{chr(200 + i)}.{{{i % 9}}}" for i in range(150))], "", False)
@example(["|".join(f"(a{{{n}}})*" for n in (2, 3, 5, 7, 11, 13))], "", False)
def test_any_expression_of_1000_characters_is_compiled_or_refused_soon(parts: list[str], repeat: str, is_long: bool) -> None:
    pattern = "".join(parts)
    pattern = f"({pattern * (1000 // len(pattern) if is_long else 1)}){repeat}"
    began = time.process_time()
    with suppress(OptionError):
        headrace.compile_regex(pattern)
    assert time.process_time() - began < 2  # a fraction of a second; slow machines take longer


@given(st.text("ab\\[](){}*+?|^$.-,0123dwsx\n é", max_size=14))
@example("[a-\\]]")
@example("a{,}")
def test_any_text_compiles_as_in_re_or_is_an_error(pattern: str) -> None:
    try:
        dfa = headrace.compile_regex(pattern)
    except OptionError:
        return
    expression = re.compile(pattern, re.ASCII | re.MULTILINE)
    for text in ("", "a", "ab", "b\n", "1{", "é", "aa,-", pattern):
        assert dfa.accepts(text.encode()) == bool(expression.fullmatch(text))


def test_automata() -> None:
    dfa = headrace.compile_regex("^ab*$")
    assert pickle.loads(pickle.dumps(dfa)) == dfa and hash(dfa) == hash(pickle.loads(pickle.dumps(dfa)))
    assert headrace.compile_regex("a|b|c").state_count == 3 and headrace.compile_regex("(a|b)*abb").state_count == 5
    assert Dfa([*_A], [[0, 0], bytes([1, 1])], {1}).accepts(b"a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((b"abc", [b"\0"], [0]), "class_of has 3 bytes"),
        ((_A, [b"\0"], [0]), "class_of has class 1"),
        ((_A, [], [0]), "0 rows"),
        ((_A, [b"\0\0", b"\0"], [0]), "same length"),
        ((_A, [b"", b""], [0]), "1 to 256 states"),
        ((_A, [b"\0" * 257, b"\0" * 257], [0]), "1 to 256 states"),
        ((_A, [b"\0\2", b"\0\0"], [0]), "there are 2 states"),
        ((_A, [[0, 300], b"\0\0"], [0]), "from 0 to 255"),
        ((_A, b"\0\0", [0]), "transitions must be a sequence"),
        ((_A, [b"\0\0", b"\0\0"], [2]), "accepting must be a state"),
        ((_A, [b"\0\0", b"\0\0"], 1), "accepting must be a sequence"),
    ],
)
def test_wrong_automata(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Dfa(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"start": 2}, "start must be a state"),
        ({"line_start": True}, "line_start must be a state"),
        ({"line_start": 1}, "line feed needs a class of its own"),
        ({"accepting_at_line_end": [1]}, "line feed needs a class of its own"),
    ],
)
def test_wrong_states(states: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Dfa(_A, [b"\0\0", b"\0\0"], [0], **states)


@pytest.mark.parametrize("text", ["abc", None, memoryview(b"abcd")[::2]])
def test_wrong_texts(text: object) -> None:
    with pytest.raises(OptionError, match="text"):
        headrace.match(text, headrace.compile_regex("a"))


@pytest.mark.parametrize("dfa", ["a", b"a", None, re.compile("a")])
def test_an_expression_is_no_automaton(dfa: object) -> None:
    for call in (headrace.match, headrace.count_matches):
        with pytest.raises(OptionError, match="compile_regex"):
            call(b"a", dfa)  # type: ignore[arg-type]


def test_memory_limit() -> None:
    with pytest.raises(headrace.MemoryLimitError):
        headrace.match(b"ab" * 1000, headrace.compile_regex("a"), context=headrace.Context(memory_limit=1000))
