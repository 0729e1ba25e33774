"""Tests the windows of bytes, one of which each match of an expression has."""

from __future__ import annotations

import time

import pytest

from headrace import OptionError, _native
from headrace.query.match.regex.parse import parse
from headrace.query.match.regex.windows import required_windows


def sets(pattern: str) -> list[str] | None:
    """Return the sets of bytes at each place of the windows, the sets of all windows together."""
    windows = required_windows(parse(pattern, is_text=True, ignore_case=False), is_text=True)
    if windows is None:
        return None
    return ["".join(chr(byte) for byte in range(256) if table[byte]) for table in windows.tables]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[0-9]+ms", ["0123456789", "m", "s"]),
        ("cat|dog", ["cd", "ao", "gt"]),
        ("x?needle", ["n", "e", "e", "d"]),
        ("(needle|needles)[a-z ]*$", ["n", "e", "e", "d"]),
        ("^ab", ["\n", "a", "b"]),
        ("a*^ab", ["\n", "a", "b"]),
        ("1a$", ["1", "a", "\n"]),
        ("^$", ["\n", "\n"]),
        ("^^$$", ["\n", "\n"]),
        ("[v-y]{4}", ["vwxy"] * 4),
        ("(ab){3}0", ["b", "a", "b", "0"]),
        ("(1|2)(3|4)", ["12", "34"]),
        ("(12)+.*|34", ["13", "24"]),
        ("é{2}", ["\xc3", "\xa9", "\xc3", "\xa9"]),
        ("a*", None),
        ("^", None),
        ("abc|.*", None),
        ("a|b", None),
        ("[a-z][a-z]", None),
    ],
)
def test_rarest_windows(pattern: str, expected: list[str] | None) -> None:
    assert sets(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "reach"),
    [
        ("needle", 0),
        ("x{0,3}needle", 3),
        ("[a-z]{2}needle", 2),
        ("x*needle", None),
        ("^needle", 1),
        ("[0-9]{1,3}ms", 2),
        ("[0-9]+ms", None),
        (".é?needle", 4),  # the window of a match with é begins with it, after up to 4 bytes
        ("needles|needle", 7),  # the window of needle may be any part of needles
    ],
)
def test_bytes_of_a_match_before_a_window(pattern: str, reach: int | None) -> None:
    windows = required_windows(parse(pattern, is_text=True, ignore_case=False), is_text=True)
    assert windows is not None and windows.reach == reach


def test_buckets_of_windows() -> None:
    windows = required_windows(parse("ab1|cd2", is_text=True, ignore_case=False), is_text=True)
    assert windows is not None
    assert [(table[ord(a)], table[ord(b)]) for table, a, b in zip(windows.tables, "ab1", "cd2", strict=True)] == [(1, 2)] * 3
    many = required_windows(parse("|".join(f"x{i}y" for i in range(100, 140)), is_text=True, ignore_case=False), is_text=True)
    assert many is not None and max(map(max, many.tables)) <= 255


def test_nested_repetitions_take_little_time() -> None:
    began = time.process_time()
    for pattern in ("(" * 48 + "a" + "){4}" * 48, "(" * 48 + "^" + "){4}" * 48, "((a|b){3}|c){3}" * 200, "[^x]" * 300):
        node = parse(pattern, is_text=True, ignore_case=False)
        required_windows(node, is_text=True)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("edge", [(0, 259, 259, 0), (0, 5, 4, 0), (0, 97, 256, 0), (1 << 24, 97, 97, 0)])
def test_edges_that_do_not_exist(edge: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="automaton of lines"):
        _native.LineAutomaton([edge], 0, 0)


@pytest.mark.parametrize("tables", [[], [b""], [bytes(256)] * 5])
def test_windows_of_wrong_sizes(tables: list[bytes]) -> None:
    with pytest.raises(ValueError, match="bytes"):
        _native.LineWindows(tables, has_lead=False, has_tail=False)


def test_too_many_nodes() -> None:
    from headrace.query.lines.line_expression import LineExpression

    with pytest.raises(OptionError, match="nodes"):
        LineExpression("(.{1000}){100}")
