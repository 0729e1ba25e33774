"""Tests searches that read a line from a candidate on, a place of the part that each match has, against `re` and `match`."""

from __future__ import annotations

import random
import re

import pytest

import headrace
from headrace import _native
from headrace.query.lines.line_expression import LineExpression
from tests.isas import EACH_ISA
from tests.tiers import seeds

WORDS = ["kq", "jv", "[q-t]", "é", "(ab|c)", "(7|é)x", "(kq|jv)+", "[0-9]+", "x{1,3}"]
PARTS = [*WORDS, "q?", ".{0,4}", ".*", "[^-]", "^", "$", "(^|x)"]
FRAGMENTS = ["kq", "jv", "q", "s", "7", "42", "x", "xx", "ab", "c", "é", "é", " "]


def drawn_text(source: random.Random, size: int) -> str:
    """Return lines that are mostly filled with a byte, so that candidates are rare; the last one may lack its end."""
    lines = []
    while size > 0:
        pieces = source.choices(FRAGMENTS, k=source.choice([0, 1, 3, 8]))
        filled = ["-" * source.choice([0, 0, 0, 1, 30, 300]) + piece for piece in pieces]
        lines.append("".join(filled) + "-" * source.choice([0, 0, 0, 90]))
        size -= len(lines[-1]) + 1
    return "\n".join(lines) + source.choice(["", "\n"])


def written(pattern: str, text: str, isa: str, *, only_matching: bool, edges: str = "") -> bytes:
    options = _native.LineOptions(b"", b"", b"")
    options.is_numbered, options.only_matching = not only_matching, only_matching
    selector = LineExpression(pattern, edges=edges).selector
    return bytes(_native.LineSearch(selector, options, 2, isa).write(text.encode()))


def matches(pattern: str, line: str) -> list[bytes]:
    """Return the matches in a line by `match`, which reads all bytes by other automata."""
    text = line.encode()
    found = headrace.match(text, headrace.compile_regex(pattern))
    return [text[begin:end] + b"\n" for begin, end in zip(found.begins.tolist(), found.ends.tolist(), strict=True)]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("seed", seeds(60))
def test_lines_and_matches_with_rare_candidates(seed: int, isa: str) -> None:
    source = random.Random(seed)
    pattern = "".join(source.sample(PARTS, k=source.randint(2, 5)))
    lines = (text := drawn_text(source, source.choice([50, 3_000, 20_000]))).removesuffix("\n").split("\n")
    for edges, form in (("", "{}"), ("word", "(?<![A-Za-z0-9_])(?:{})(?![A-Za-z0-9_])"), ("line", r"\A(?:{})\Z")):
        expression = re.compile(form.format(pattern.replace("$", r"\Z")), re.ASCII)
        expected = [number for number, line in enumerate(lines, 1) if expression.search(line)]
        shown = written(pattern, text, isa, only_matching=False, edges=edges)
        assert [int(line.partition(b":")[0]) for line in shown.splitlines()] == expected, pattern
    only = written(pattern, text, isa, only_matching=True)
    assert only == b"".join(one for line in lines for one in matches(pattern, line)), pattern


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("pattern", ["[v-y]{6}", "x.{3}kq", "kq.*7$", "[0-9]+jv", "^-.*kq7", "jv?é|kq"])
def test_candidates_in_a_long_line(pattern: str, isa: str) -> None:
    source = random.Random(pattern)
    gaps = [source.choice(["--- ", "-" * 900]) for _ in range(3000)]
    line = "".join(gap + source.choice(["kq", "jv", "42", "vwxy", "xwvxyv", "x--7kq", "jvé"]) for gap in gaps)
    for end in ("", "7", "kq7", "\n", "7\nkq"):
        text = line + end
        lines = text.removesuffix("\n").split("\n")
        expression = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
        expected = [number for number, each in enumerate(lines, 1) if expression.search(each)]
        shown = written(pattern, text, isa, only_matching=False)
        assert [int(each.partition(b":")[0]) for each in shown.splitlines()] == expected
    only = written(pattern, line, isa, only_matching=True)
    assert only == b"".join(matches(pattern, line))


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("pattern", ["kq.*7", "kq[^#]*7$", "-kq.{9}4.*2"])
@pytest.mark.parametrize("filler", [30, 70, 300])
def test_candidates_after_which_whole_lines_are_read(filler: int, pattern: str, isa: str) -> None:
    source = random.Random(filler)
    lines = ["-" * source.randint(0, 9) + "kq" + "".join(source.choices("-" * 90 + "#42", k=filler)) for _ in range(9000)]
    for number in source.sample(range(len(lines)), k=500):
        lines[number] += "7"
    expected = [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]
    shown = written(pattern, "\n".join(lines), isa, only_matching=False)
    assert [int(line.partition(b":")[0]) for line in shown.splitlines()] == expected
    assert 0 < len(expected) < len(lines)
