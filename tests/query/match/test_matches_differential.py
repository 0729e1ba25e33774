"""Tests matches for several chunk sizes and thread counts against `re`, and against walks from each begin."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace
from headrace import Context, Dfa
from headrace.query.match import match as module
from tests.isas import EACH_ISA
from tests.query.match.match_cases import Spans, expected, in_bytes, patterns, random_dfa, walked

CHUNKS = (1, 2, 3, 7, 64, module.CHUNK_BYTES)


@pytest.fixture(params=CHUNKS, ids=lambda size: f"chunks-{size}")
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Size of a chunk, which `match` uses."""
    size: int = request.param
    monkeypatch.setattr(module, "CHUNK_BYTES", size)
    return size


def spans(text: bytes, dfa: Dfa, threads: int = 1, isa: str = "") -> Spans:
    context = Context(threads=threads, isa=isa)
    found = headrace.match(text, dfa, context=context)
    assert found.begins.dtype == found.ends.dtype == np.uint64
    assert headrace.count_matches(text, dfa, context=context) == len(found.begins)
    return list(zip(found.begins.tolist(), found.ends.tolist(), strict=True))


def check_text(text: str, pattern: str, *, ignore_case: bool = False) -> None:
    dfa = headrace.compile_regex(pattern, ignore_case=ignore_case)
    flags = re.IGNORECASE if ignore_case else 0
    assert spans(text.encode(), dfa) == in_bytes(text, expected(text, pattern, flags))


@given(patterns(["a", "b", "ab", "é"]), st.text("ab.é\n-€", max_size=12), st.booleans())
def test_any_expression(pattern: str, text: str, ignore_case: bool) -> None:
    check_text(text, pattern, ignore_case=ignore_case)


@given(patterns(["a", "b", "ab"]), st.text("aB.b\n \xe9", max_size=12), st.booleans())
def test_any_expression_of_bytes(pattern: str, text: str, ignore_case: bool) -> None:
    flags = re.IGNORECASE if ignore_case else 0
    given_bytes, expression = text.encode("latin-1"), pattern.encode()
    dfa = headrace.compile_regex(expression, ignore_case=ignore_case)
    assert spans(given_bytes, dfa) == expected(given_bytes, expression, flags)


@pytest.mark.parametrize("states", [1, 2, 5, 12])
def test_automata_in_chunks(states: int, chunk: int) -> None:
    for seed in range(8):
        dfa = random_dfa(seed, states, 3, lines=seed % 4 >= 2)
        random = np.random.default_rng([seed, states])
        for size in (0, 1, 2, chunk % 1000, chunk % 1000 + 1, 150):
            text = random.choice(np.frombuffer(b"abcdefg\n", np.uint8), size).tobytes()
            assert spans(text, dfa, 1 + seed % 3) == walked(text, dfa)


@pytest.mark.parametrize("pattern", [b"a{150}b|a", b"(abc|de{30}f)+", b"[a-c]{3,40}", b"^[^\n]*e$", b"(a|b)*abb"])
def test_large_automata_in_chunks(pattern: bytes, chunk: int) -> None:
    dfa = headrace.compile_regex(pattern)
    random = np.random.default_rng(len(pattern))
    pieces = (b"a" * 149, b"a" * 150 + b"b", b"abc", b"d" + b"e" * 30 + b"f", b"bcab" * 12, b"\n", b"abb")
    for threads in (1, 3):
        text = b"".join(pieces[i] for i in random.integers(0, len(pieces), 12))
        assert spans(text, dfa, threads) == walked(text, dfa)


def test_steps_that_are_not_joined(chunk: int) -> None:
    joined = headrace.compile_regex(b"a{50}b|a")
    rows = [joined.transitions[group] for group in joined.class_of]  # a class for each byte
    dfa = Dfa(bytes(range(256)), rows, joined.accepting, start=joined.start)
    text = (b"a" * 51 + b"ba" + b"a" * 50 + b"x") * 3
    assert spans(text, dfa) == walked(text, joined)


def test_across_chunks_and_threads() -> None:
    size = 5 * module.CHUNK_BYTES + 17
    random = np.random.default_rng(1)
    text = random.choice(np.frombuffer(b"ab \n", np.uint8), size, p=[0.6, 0.37, 0.02, 0.01]).tobytes()
    for pattern in (rb"b+", rb"^a.*b$", rb"[ab ]+", rb"(?:ab)+", rb"a[^\n]*\n", rb"a"):
        longest = [found.span() for found in re.finditer(pattern, text, re.MULTILINE)]  # greedy is longest here
        for threads in (1, 3):
            assert spans(text, headrace.compile_regex(pattern), threads) == longest


PARTS = (
    (rb"needle", b"x needle nee"),
    (rb"n.*e|\d{4}-\d\d", b"2024-05 n..e\n"),
    (rb"[a-z]+@[a-z]+\.com", b" ab@cd.com @.com"),
    (rb"cat|doge?|bird", b" cat doge dogcat"),
    (rb"^ab|ba$", b"\nab ab ba\nba"),
    (rb"^$|qq", b"\n\nqqq"),
    (rb"x[^y]{3}z", b"x\n\nxzxabcz"),
    (rb"q\nr", b"q\nr"),
    (rb"(ab)+c", b"ababababc"),
)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize(("pattern", "part"), PARTS, ids=range(len(PARTS)))
def test_matches_far_from_each_other(pattern: bytes, part: bytes, chunk: int, isa: str) -> None:
    # Texts whose matches are rare, so that only regions near a required part are read.
    random = np.random.default_rng(len(pattern))
    for ignore_case in (False, True):
        dfa = headrace.compile_regex(pattern, ignore_case=ignore_case)
        for seed in range(6):
            filler = [b"." * int(n) if seed % 2 else b"ab. \n"[: int(n)] * 9 for n in random.integers(1, 60, 5)]
            cut = int(random.integers(0, len(part) + 1))
            text = b"".join([filler[0], part, filler[1], part[:cut], filler[2], part[cut:].upper(), filler[3], part])
            assert spans(text, dfa, 1 + seed % 3, isa) == walked(text, dfa)


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("pattern", ["C+", "C{3,}", "C{3,5}", "C", "CC|C{4,5}", "(?:CC)+", "C+$", "(?:CCC|CC)+"])
def test_runs_of_a_class(pattern: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A match has bytes of one set only. Gaps in its possible lengths, and ends of lines, need the automaton.
    for seed, count in enumerate((1, 20, 200)):
        random = np.random.default_rng([seed, len(pattern)])
        members, others = np.split(random.permutation(256).astype(np.uint8), [count])
        escaped = b"".join(b"\\x%02x" % byte for byte in members)
        dfa = headrace.compile_regex(pattern.encode().replace(b"C", b"[" + escaped + b"]"))
        for chunk in (7, 64, 1000):
            monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
            is_member = random.random(140) < 0.8
            text = np.where(is_member, random.choice(members, 140), random.choice(np.append(others, 10), 140))
            assert spans(text.tobytes(), dfa, 1 + seed, isa) == walked(text.tobytes(), dfa)


def test_automata_of_other_processes_have_the_same_matches() -> None:
    dfa = headrace.compile_regex("[0-9]+ms|needle")
    copied = pickle.loads(pickle.dumps(dfa))
    assert copied == dfa
    assert spans(b"." * 500 + b"12ms", copied) == [(500, 504)]


@pytest.mark.parametrize("threads", [1, 3])
def test_time_is_linear(threads: int) -> None:
    text = b"a" * (3 * module.CHUNK_BYTES)
    assert headrace.count_matches(text, headrace.compile_regex(b"a|a.*b"), context=Context(threads=threads)) == len(text)
    assert spans(text, headrace.compile_regex(b"a+a+a+"), threads) == [(0, len(text))]
    assert spans(text + b"b", headrace.compile_regex(b"a|a.*b"), threads) == [(0, len(text) + 1)]


def test_inputs() -> None:
    dfa = headrace.compile_regex("b")
    for text in (b"abb", bytearray(b"abb"), memoryview(b"abb"), np.frombuffer(b"abb", np.uint8)):
        assert headrace.match(text, dfa).begins.tolist() == [1, 2]
