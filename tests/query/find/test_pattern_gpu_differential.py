"""Compares searches on a GPU with searches on the CPU."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import headrace
from headrace import Context, DeviceArray, UnsupportedDeviceError
from headrace.query.find.gpu.tuning import FORMS, TUNING
from tests.query.find.pattern_cases import expected, planted, set_cases, symbols

pytestmark = pytest.mark.gpu

TILE = TUNING.tile_marks


def check(text: bytes, pattern: bytes, ignore_case: bool = False, shift: int = 0) -> None:
    whole = DeviceArray.from_host(np.frombuffer(bytes(shift) + text, np.uint8))
    given = DeviceArray(whole.buffer, "|u1", len(text), shift)
    prepared = headrace.Pattern(pattern, ignore_case=ignore_case)
    for overlapping in (True, False):
        positions = headrace.find(text, prepared, overlapping=overlapping)
        np.testing.assert_array_equal(headrace.find(given, prepared, overlapping=overlapping).to_numpy(), positions)
        assert headrace.count(given, prepared, overlapping=overlapping) == len(positions)
    assert headrace.find_first(given, prepared) == (positions[0] if len(positions) else None)
    assert headrace.contains(given, prepared) == bool(len(positions))


@pytest.mark.parametrize("length", [*FORMS, 3, 7, 18, 33, 128, 129, 700, 70_000, 1 << 20])
def test_lengths_at_edges(length: int) -> None:
    for letters, size in ((2, TILE - 1), (26, TILE), (256, 20 * TILE + 17), (4, 33 * TILE + 3), (26, length)):
        pattern = symbols(letters, length, 1).tobytes()
        edges = [0, size - length, *(edge - length + by for edge in (TILE, 16 * TILE) for by in (0, 1, length // 2, length))]
        check(planted(symbols(letters, max(size, length)), pattern, edges), pattern, shift=size * length % 16)
    text = symbols(26, 5 * TILE, 2).tobytes()
    check(text, text[TILE : TILE + length].swapcase(), ignore_case=True, shift=3)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (b"a", b"a"),
        (b"a", b"a" * 3),
        (b"a", b"a" * 16),
        (b"a", b"a" * 1000),
        (b"a", b"a" * 100_000),
        (b"ab", b"ab" * 500 + b"a"),
        (b"a", b"a" * 500 + b"b" + b"a" * 500),
        (b"aaaaaaaaab", b"aaaaaaaaab" * 900),
    ],
)
def test_repetitive_texts(text: bytes, pattern: bytes) -> None:
    check(text * (1_000_000 // len(text)), pattern)


def test_libraries() -> None:
    text, pattern = b"xxabxaab" * 1000, b"ab"
    positions = expected(text, pattern, True)
    context = Context(device="cuda")
    assert headrace.find(text, pattern, context=context).to_numpy().tolist() == positions
    cupy = pytest.importorskip("cupy")
    found = headrace.find(cupy.frombuffer(text, cupy.uint8), pattern)
    assert isinstance(found, cupy.ndarray) and found.get().tolist() == positions
    torch = pytest.importorskip("torch")
    found = headrace.find(torch.frombuffer(bytearray(text), dtype=torch.uint8).cuda(), pattern)
    assert found.dtype == torch.uint64 and found.cpu().numpy().tolist() == positions


@pytest.mark.long
def test_positions_past_32_bits() -> None:
    cupy = pytest.importorskip("cupy")
    text = cupy.zeros((1 << 32) + 1000, cupy.uint8)
    places = [5, (1 << 32) - 10, (1 << 32) + 900]
    for place in places:
        text[place : place + 20] = cupy.arange(1, 21, dtype=cupy.uint8)
    pattern = bytes(range(1, 21))
    assert headrace.find(text, pattern).get().tolist() == places
    assert headrace.find_first(text[6:], pattern) == places[1] - 6 and headrace.count(text, pattern) == 3


def test_many_patterns() -> None:
    for size in (1000, 5 * TILE + 1):
        for i, (text, patterns) in enumerate(set_cases(1, size)):
            prepared = headrace.PatternSet(patterns, ignore_case=i % 2 == 1)
            given = DeviceArray.from_host(np.frombuffer(text, np.uint8))
            found, hits = headrace.find_any(given, prepared), headrace.find_any(text, prepared)
            np.testing.assert_array_equal(found.positions.to_numpy(), hits.positions)
            np.testing.assert_array_equal(found.patterns.to_numpy(), hits.patterns)
            np.testing.assert_array_equal(headrace.count_any(given, prepared).to_numpy(), headrace.count_any(text, prepared))
    assert headrace.count_any(DeviceArray.from_host(np.empty(0, np.uint8)), [b"a"]).to_numpy().tolist() == [0]


@pytest.mark.parametrize("method", ["crk", "drk", "drk-wom-32", "drk-wom-64", "hrk", "drk-2s", "rabin-karp"])
def test_published_methods(method: str) -> None:
    for letters, length in ((2, 1), (2, 7), (2, 32), (256, 4), (26, 300), (4, 1000), (4, 50_000)):
        if length > {"drk-wom-32": 32, "drk-wom-64": 32, "hrk": 1024}.get(method, length):
            continue
        pattern = symbols(letters, length, 1).tobytes()
        text = planted(symbols(letters, 300_000 + length), pattern, [0, 8192 - length, 8191, 250_000, 300_000])
        given = DeviceArray.from_host(np.frombuffer(text, np.uint8))
        positions = expected(text, pattern, True)
        assert headrace.find(given, pattern, method=method).to_numpy().tolist() == positions
        assert headrace.count(given, pattern, method=method) == len(positions)


@pytest.mark.parametrize("form", ["string", "large_string", "dictionary"])
@pytest.mark.parametrize("pattern", [b"A", b"AA", b"ABA", b"AB" * 20])
def test_columns(form: str, pattern: bytes) -> None:
    random = np.random.default_rng(len(pattern))
    text = symbols(2, 400_000).tobytes().decode()
    ends = np.cumsum(random.integers(0, 9, 90_000)).tolist()
    texts = [text[a:b] if a % 7 else "" for a, b in pairwise(ends)]
    texts[500:600] = [(pattern * 3).decode()] * 100
    host = headrace.read_csv("\n".join(["t", *texts]).encode(), dtypes={"t": form}, skip_blank_lines=False)["t"]
    assert host.null_count
    for column in (host, host[333:77_777], host[5:5], host[:1]):
        placed, on_gpu = column.to("cuda"), host.to("cuda")[333 : 333 + len(column)]
        for given, source in ((placed, column), (on_gpu, host[333 : 333 + len(column)])):
            for overlapping in (True, False):
                counts = headrace.count_in_column(given, pattern, overlapping=overlapping)
                expected_counts = headrace.count_in_column(source, pattern, overlapping=overlapping)
                assert counts.device.kind == "cuda" and counts.to_pylist() == expected_counts.to_pylist()
                if form == "dictionary":
                    with pytest.raises(UnsupportedDeviceError, match=r"pass column\.to"):
                        headrace.find_in_column(given, pattern, overlapping=overlapping)
                    continue
                found = headrace.find_in_column(given, pattern, overlapping=overlapping)
                hits = headrace.find_in_column(source, pattern, overlapping=overlapping)
                np.testing.assert_array_equal(found.rows.to_numpy(), hits.rows)
                np.testing.assert_array_equal(found.offsets.to_numpy(), hits.offsets)
            for call in (headrace.contains_in_column, headrace.find_first_in_column):
                lower = pattern.lower()
                assert call(given, lower, ignore_case=True).to_pylist() == call(source, lower, ignore_case=True).to_pylist()
            if form == "dictionary":
                with pytest.raises(UnsupportedDeviceError, match=r"pass column\.to"):
                    headrace.find_any_in_column(given, [pattern])
                continue
            patterns = [pattern, b"aab", pattern * 2]
            found_any, wanted = headrace.find_any_in_column(given, patterns), headrace.find_any_in_column(source, patterns)
            for part, same in zip(found_any, wanted, strict=True):
                np.testing.assert_array_equal(part.to_numpy(), same)


def test_replacements() -> None:
    for letters, size, length in ((2, 5 * TILE + 1, 3), (26, TILE, 1), (256, 20 * TILE, 40), (1, 3 * TILE, 2), (4, 5, 9)):
        text = symbols(letters, size).tobytes()
        pattern = text[size // 2 : size // 2 + length]
        for replacement in (b"", b"x", b"longer than the pattern " * 3):
            for given in (pattern, pattern + b"?"):
                found = headrace.replace(DeviceArray.from_host(np.frombuffer(text, np.uint8)), given, replacement)
                assert found.to_numpy().tobytes() == text.replace(given, replacement)


def test_matches() -> None:
    for pattern in (r"[A-C]+", "AB|ABAB", "^[^B\n]+$", "(AB{50}C|A)+"):
        dfa = headrace.compile_regex(pattern)
        for letters, size, shift in ((2, 5 * TILE + 1, 3), (26, 33 * TILE, 0), (4, 7, 5)):
            text = symbols(letters, size + shift)
            text[::97] = ord("\n")
            whole = DeviceArray.from_host(text)
            given = DeviceArray(whole.buffer, "|u1", size, shift)
            found, expected_matches = headrace.match(given, dfa), headrace.match(text[shift:], dfa)
            np.testing.assert_array_equal(found.begins.to_numpy(), expected_matches.begins)
            np.testing.assert_array_equal(found.ends.to_numpy(), expected_matches.ends)
            assert headrace.count_matches(given, dfa) == len(expected_matches.begins)
    empty = headrace.match(DeviceArray.from_host(np.empty(0, np.uint8)), headrace.compile_regex("a"))
    assert empty.begins.to_numpy().tolist() == empty.ends.to_numpy().tolist() == []
