"""Tests the selection of lines by expressions, and the matches in them, against `re` and against `headrace.match`."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import _native
from headrace.query.lines.line_expression import MAX_ITEMS, LineExpression
from tests.isas import EACH_ISA
from tests.query.match.match_cases import patterns

MANY_STATES = ("a.{20}b", "a[ab]{12}x", "b.{12}c$", "^.{3,17}b.{11}a", "a.{9}b|b.{12}c")


def search(expression: LineExpression, isa: str = "", threads: int = 1, *, only_matching: bool = False) -> _native.LineSearch:
    options = _native.LineOptions(b"", b"", b"")
    options.is_numbered, options.only_matching = not only_matching, only_matching
    return _native.LineSearch(expression.selector, options, threads, isa)


def numbers(shown: memoryview) -> list[int]:
    return [int(line.partition(b":")[0]) for line in bytes(shown).splitlines()]


def selected(text: bytes, pattern: str, flags: int = 0) -> list[int]:
    """Return the numbers of the lines that match, from 1 on, by `re`."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    expression = re.compile(pattern.replace("$", r"\Z"), flags | re.ASCII)
    return [number for number, line in enumerate(lines, 1) if expression.search(line.decode())]


def drawn_text(source: random.Random, size: int) -> bytes:
    """Return lines of letters, mostly short, few long and few empty."""
    letters = source.choice(["aab", "abcx ", "abcdefghijklmnopqrstuvwxyz .é"])
    lines = []
    while size > 0:
        length = source.choice([0, 3, 20, 60, 60, 60, 900])
        lines.append("".join(source.choices(letters, k=length)))
        size -= length + 1
    return "\n".join(lines).encode() + source.choice([b"", b"\n"])


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("max_items", [0, MAX_ITEMS])
@pytest.mark.parametrize("size", [300, 30_000])
def test_lines_by_expressions_of_many_states(max_items: int, size: int, isa: str) -> None:
    source = random.Random(size)
    for pattern in MANY_STATES:
        text = drawn_text(source, size)
        expected = selected(text, pattern)
        expression = LineExpression(pattern, max_items=max_items)
        assert numbers(search(expression, isa).write(text)) == expected, pattern
        assert search(expression, isa).count(text) == len(expected), pattern


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(
    "pattern",
    ["cat|dog", "(^|x)ab", "a$|^b", "^$", "^ab?c$", "[b-d]{4}", "b+ca", "(bc|a)x+", "(?:^a){2}", "a$$", "(a|)bc", "ab|abc|b.c",
     "a$^b", "(a|b|c|x){3}(ab|cx|ac|xx| a|c )", "é.?[é-ü]a", "[^a]b{2}", "c\n?x", "^^ab", "xx$(|a)", "((ax|b)(c|x)){2}"],
)  # fmt: skip
def test_windows_in_each_line(pattern: str, isa: str) -> None:
    source = random.Random(pattern)
    for size in (0, 2, 70, 500, 20_000):
        text = drawn_text(source, size)
        for ignore_case in (False, True):
            given_text = text.swapcase() if ignore_case and source.random() < 0.5 else text
            expected = selected(given_text, pattern, re.IGNORECASE if ignore_case else 0)
            assert numbers(search(LineExpression(pattern, ignore_case=ignore_case), isa).write(given_text)) == expected


def test_pieces_on_threads() -> None:
    random_numbers = np.random.default_rng(0).integers(0, 10**6, 100_000)
    text = b"".join(b"%d ms\n" % number for number in random_numbers) + b"9" * 300_000 + b"77 ms\n"
    lines = text.splitlines()
    for pattern in ("[0-9]*77 ms", "^1.*9 ", "^7|^88|99 ", "[12]{4}", "777.*7 ms$"):
        expected = [number for number, line in enumerate(lines, 1) if re.search(pattern.encode(), line)]
        assert numbers(search(LineExpression(pattern), threads=3).write(text)) == expected, pattern


@given(patterns(["a", "b", "ab", "é"]), st.text("ab.é-€", max_size=14), st.booleans(), st.sampled_from([0, MAX_ITEMS]))
def test_matches_in_a_line(pattern: str, line: str, ignore_case: bool, max_items: int) -> None:
    """Compares with `match`, which finds matches by other automata. Here no match has the line feed."""
    expression = LineExpression(pattern, ignore_case=ignore_case, max_items=max_items)
    text = line.encode()
    found = headrace.match(text, headrace.compile_regex(pattern, ignore_case=ignore_case))
    matches = [text[begin:end] + b"\n" for begin, end in zip(found.begins.tolist(), found.ends.tolist(), strict=True)]
    assert search(expression, only_matching=True).write(text + b"\n") == b"".join(matches)
    assert search(expression).count(text + b"\n") >= (len(matches) > 0)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("max_items", [0, 1, MAX_ITEMS])
@pytest.mark.parametrize(
    ("pattern", "count"), [("a|a.*b", 1), ("[ab]|(aa)*c", 1), ("[ab]|(a{7})*c", 1), ("a{2}|a{3}.*c", 2), ("a|(a|aa){9}b", 1)]
)
def test_matches_take_linear_time(pattern: str, count: int, max_items: int) -> None:
    for size in (10_000, 100_000):
        search_in_line = search(LineExpression(pattern, max_items=max_items), only_matching=True)
        assert bytes(search_in_line.write(b"a" * size)).count(b"\n") == size // count
        assert search_in_line.match_steps <= 8 * size + 2048


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("max_items", [0, 1, 2000, MAX_ITEMS])
@pytest.mark.parametrize(
    ("pattern", "in_re"),
    [
        ("(a.{20}b|c.{15}d).*[tu]", "(a.{20}b|c.{15}d).*[tu]"),
        ("a.{9}b|b.{12}c.*d", "a.{9}b|b.{12}c.*d"),
        ("[ab]|a.{14}c.*x$", "[ab]"),
        ("[ac]|.*a.{14}x", "[ac]"),
    ],
)
def test_matches_of_more_states_than_the_table_has_take_linear_time(pattern: str, in_re: str, max_items: int) -> None:
    line = "".join(random.Random(pattern).choices("abcdtu", k=20_000))
    search_in_line = search(LineExpression(pattern, max_items=max_items), only_matching=True)
    expected = [found[0].encode() + b"\n" for found in re.finditer(in_re, line)]
    assert search_in_line.write(line.encode()) == b"".join(expected)
    assert search_in_line.match_steps <= 8 * len(line) + 2048


def test_matches_of_many_states() -> None:
    text = b"xa" + b"-" * 20 + b"b, a" + b"." * 20 + b"ba"
    assert search(LineExpression("a.{20}b"), only_matching=True).write(text) == text[1:23] + b"\n" + text[25:47] + b"\n"


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("edges", ["", "word", "line"])
@pytest.mark.parametrize("number", [2, 70, 1000])
def test_lines_with_one_of_many_texts(number: int, edges: str, ignore_case: bool) -> None:
    source = random.Random(number)
    texts = ["".join(source.choices("abcAé.", k=source.randint(3, 9))) for _ in range(number)]
    text = drawn_text(source, 5_000) + "\n".join([*texts[:5], *(f"a{each}." for each in texts[5:10])]).encode()
    either = "|".join(map(re.escape, texts))
    pattern = {"": f"({either})", "word": rf"(?<![A-Za-z0-9_])({either})(?![A-Za-z0-9_])", "line": rf"\A({either})\Z"}[edges]
    expected = selected(text, pattern, re.IGNORECASE if ignore_case else 0)
    expression = LineExpression(texts, is_literal=True, ignore_case=ignore_case, edges=edges)
    assert numbers(search(expression).write(text)) == expected


def test_a_thousand_texts_take_few_states() -> None:
    source = random.Random(1)
    texts = ["".join(source.choices("abcdefghijklmnopqrstuv", k=9)) for _ in range(1000)]
    lines = ["".join(source.choices("abcdefghijklmnopqrstuv ", k=70)) for _ in range(20_000)]
    text = "\n".join([*lines, texts[7]]).encode()
    expression = LineExpression(texts, is_literal=True)
    began = time.process_time()
    assert numbers(search(expression).write(text))[-1] == len(lines) + 1
    assert time.process_time() - began < 2  # a minute, if each state has the first node of each text


def test_nodes_are_not_limited_by_the_number_of_texts() -> None:
    source = random.Random(2)
    texts = ["".join(source.choices("abcdefghijklmnopqrstuv", k=9)) for _ in range(9_000)]
    expression = LineExpression(texts, is_literal=True)
    text = "\n".join(["abc", texts[0], "x" * 9, texts[-1] + "x"]).encode()
    assert numbers(search(expression).write(text)) == [2, 4]


@pytest.mark.parametrize("edges", ["", "word"])
def test_ten_thousand_texts_in_either_case(edges: str) -> None:
    source = random.Random(edges)
    texts = {"".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(10_000)}
    words = [
        *source.choices(sorted(texts), k=50),
        *("".join(source.choices("abcxyz", k=source.randint(6, 9))) for _ in range(50)),
    ]
    lines = [source.choice(["", "x", "- "]) + word.title() + source.choice(["", "x", " y"]) for word in words]
    expected = [
        number
        for number, line in enumerate(map(str.lower, lines), 1)
        if (any(line[at : at + 7] in texts for at in range(len(line))) if edges == "" else not texts.isdisjoint(line.split()))
    ]
    expression = LineExpression(sorted(texts), is_literal=True, ignore_case=True, edges=edges)
    assert numbers(search(expression).write("\n".join(lines).encode())) == expected
    assert 10 < len(expected) < 60
    letters = np.random.default_rng(1).choice(np.frombuffer(b"abcdefghijklmnopqrstuvwxyz    \n", np.uint8), 8 << 20)
    began = time.process_time()
    search(expression).count(letters.tobytes())
    assert time.process_time() - began < 1  # 2 s and more, if the states do not fit the table


def test_texts_that_begin_with_each_other() -> None:
    expression = LineExpression(["a" * n for n in range(3, 300)], is_literal=True)
    assert numbers(search(expression).write(b"aa\naaa\nbaab\n" + b"a" * 400)) == [2, 4]
    only = search(LineExpression(["a", "ab", "abc", ""], is_literal=True), only_matching=True)
    assert bytes(only.write(b"abcab-a\n")) == b"abc\nab\na\n"
