"""Tests texts that only an automaton reads by rows: comments, escapes, separators of several bytes, malformed quotes. Under the
fiber harness against `read_csv` on the CPU, with small tiles, so that every construct lies across an edge of tiles.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from headrace.structure.gpu.launches import SearchTuning
from tests.columns.faults.load_gpu_faults_cases import check as check_faults
from tests.columns.load.load_gpu_cases import check, shape_of

pytestmark = pytest.mark.fibers

TYPES = ["string", "int32", "string", "float64", "date32", "bool"]
LENGTHS = [0, 1, 2, 3, 8, 15, 33, 70]


def shape():
    """Return the sizes of other tests of loads, so that these programs are compiled once."""
    find = SearchTuning(threads=32, rows=2, blocks=1, scan_threads=32, only_dfa=True)
    return shape_of(find, threads=32, window=64)


@dataclass(frozen=True)
class Written:
    """A dialect, and how texts are written in it: `text` writes a field of text, `between` what may precede a record, `pad` a
    field of any type with spaces around it.
    """

    options: dict[str, Any]
    text: Callable[[random.Random, str], str]
    between: Callable[[random.Random], str] = lambda _: ""
    pad: Callable[[random.Random, str], str] = lambda _, field: field

    @property
    def sep(self) -> str:
        return self.options.get("sep", ",")


def plain(_: random.Random, text: str) -> str:
    return text


def quoted(rng: random.Random, text: str) -> str:
    return f'"{text},""\n{text[:3]}"' if rng.random() < 0.3 else text


def escaped(rng: random.Random, text: str) -> str:
    inner = "".join(rng.choice(["", "", "", "\\\\", "\\,", '\\"', "\\\n", "\\x"]) + letter for letter in text)
    return f'"{inner}"' if rng.random() < 0.4 else inner


def lenient(rng: random.Random, text: str) -> str:
    kinds = ['"{}"', '"{}"x"', '"{}', '{}"', '""{}"', '"a"{}"b"', '"{}""', '"\\n{}"', "{}", "{}", "{}", '"{}"', '"{}"']
    return rng.choice(kinds).format(text)


def escaped_without_quotes(rng: random.Random, text: str) -> str:
    return "".join(rng.choice(["", "", "\\\\", "\\,", "\\\n"]) + letter for letter in text)


def spaced(rng: random.Random, text: str) -> str:
    return f'" {text}, "" \n{text[:3]} "' if rng.random() < 0.5 else text


def spaces(rng: random.Random) -> str:
    return " " * rng.choices([0, 1, 2, 7, 32, 33, 70, 150], [40, 20, 20, 20, 2, 2, 1, 0.5])[0]


def after_spaces(rng: random.Random, field: str) -> str:
    return spaces(rng) + field


def among_spaces(rng: random.Random, field: str) -> str:
    return spaces(rng) + field + spaces(rng)


def comment(rng: random.Random) -> str:
    return "".join(rng.choices(["", "#\n", '# a "note, of\n', "#" + "long " * 60 + "\n", "\n"], [20, 1, 2, 0.3, 1])[0:1])


def slashes(rng: random.Random) -> str:
    return rng.choices(["", "//\n", "// note\n"], [5, 1, 1])[0]


WRITTEN = {
    "comments": Written({"comment": "#"}, plain, comment),
    "comments and quotes": Written({"comment": "#"}, quoted, comment),
    "comments of two bytes": Written({"comment": "//"}, quoted, slashes),
    "two bytes": Written({"sep": "||"}, quoted),
    "three bytes without quotes": Written({"sep": "<->", "quote_char": None}, plain),
    "escapes": Written({"escape_char": "\\"}, escaped),
    "escapes without quotes": Written({"escape_char": "\\", "quote_char": None}, escaped_without_quotes),
    "lenient quotes": Written({"lenient_quotes": True, "on_error": "reject"}, lenient, comment),
    "lenient quotes and escapes": Written({"lenient_quotes": True, "escape_char": "\\", "on_error": "reject"}, lenient),
    "all of them": Written({"escape_char": "\\", "comment": "#", "sep": "::"}, escaped, comment),
    "spaces before fields": Written({"skip_initial_space": True}, spaced, pad=after_spaces),
    "spaces before fields and lenient quotes": Written(
        {"skip_initial_space": True, "lenient_quotes": True, "on_error": "reject"}, lenient, comment, pad=after_spaces
    ),
    "padded fields": Written({"strip": True}, spaced, pad=among_spaces),
    "padded fields and comments": Written({"strip": True, "comment": "#"}, spaced, comment, pad=among_spaces),
    "line ends of two bytes": Written({"lineterminator": "\r\n"}, quoted),
    "line ends and separators of several bytes": Written({"lineterminator": "<e>", "sep": "||", "comment": "#"}, quoted, comment),
    "blank lines are records": Written({"comment": "#", "skip_blank_lines": False, "short_records": "null"}, quoted, comment),
}


def record(rng: random.Random, written: Written) -> str:
    texts = [written.text(rng, "".join(rng.choices("ab -x", k=rng.choice(LENGTHS)))) for _ in range(2)]
    day = f"20{rng.randrange(10, 99)}-0{rng.randrange(1, 9)}-1{rng.randrange(9)}"
    flag = rng.choice(["true", "false", ""])
    numbers = str(rng.randrange(-(10**6), 10**6)), f"{rng.uniform(-99, 99):.2f}"
    fields = [texts[0] or "t", numbers[0], texts[1], numbers[1], day, flag]
    return written.between(rng) + written.sep.join(written.pad(rng, field) for field in fields) + "\n"


def text_of(rng: random.Random, written: Written, count: int) -> str:
    text = "".join(record(rng, written) for _ in range(count))
    return text.replace("\n", written.options.get("lineterminator", "\n"))


@pytest.mark.long_except("0-*")
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("seed", range(4))
def test_all_tiles_by_rows(left, name, seed):
    """No tile with a whole record of the usual length is left to the general conversion."""
    rng, written = random.Random(f"{name} {seed}"), WRITTEN[name]
    data = text_of(rng, written, 250).encode()
    if seed % 2:
        prefix = written.options.get("comment", "").encode()
        data = data.rstrip(b"\n") + rng.choice([b"", b"\n" + prefix + b" x", b"\n" + prefix] if prefix else [b""])
    check_faults(data, header=False, schema=TYPES, skew=rng.randrange(16), seed=seed, shape=shape(), **written.options)
    if "skip_blank_lines" not in written.options:
        assert left[-1][0] <= left[-1][1] // 4 or "comment" in written.options or "lenient_quotes" in written.options


@pytest.mark.long_except("0-two bytes", "0-escapes", "0-comments")
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("shift", range(8))
def test_every_place_at_the_edge_of_a_tile(name, shift):
    """A first field of each length moves separators, escapes and comments over the edges of tiles of 1,024 bytes."""
    rng, written = random.Random(name), WRITTEN[name]
    first = written.sep.join(["x" * (shift + 1), "1", "y", "2.5", "2001-02-03", "true"])
    data = f"{first}{written.options.get('lineterminator', chr(10))}{text_of(rng, written, 60)}".encode()
    check(data, header=False, schema=TYPES, skew=shift, shape=shape(), **written.options)


@pytest.mark.long_except("comments", "escapes")
@pytest.mark.parametrize("name", WRITTEN)
def test_inferred_types_and_line_ends_of_two_bytes(name):
    rng, written = random.Random(name), WRITTEN[name]
    data = text_of(rng, written, 100).replace("\n", "\r\n").encode()
    check(data, header=False, skew=3, shape=shape(), **{**written.options, "on_error": "reject"})


@pytest.mark.parametrize("end", ["\\", '"', '"a', '"a"|', "|", "a|", "a||", "#", "# a", '"a"x', ""])
def test_ends_of_texts(end):
    """An escape or a separator that the text's end cuts off, an open quote, a comment without a line end."""
    rng = random.Random(end)
    written = Written({"sep": "||", "escape_char": "\\", "comment": "#", "on_error": "reject"}, plain)
    lines = [written.sep.join(["".join(rng.choices("ab", k=9)) for _ in range(3)]) for _ in range(90)]
    data = ("\n".join(lines) + "\n" + end).encode()
    check_faults(data, header=False, schema=["string"] * 3, short_records="null", shape=shape(), **written.options)


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("options", [{}, {"lenient_quotes": True}, {"strict_quotes": True}])
def test_malformed_quotes_leave_no_tile(left, share, options):
    """A quote inside a quoted field is a fault of its record. Values, faults and their places are the CPU's."""
    rng = random.Random(f"{share} {options}")
    lines = [f'"{"ab" * rng.randrange(9)}{chr(34) if rng.random() < share else ""} x",{rng.randrange(99)}' for _ in range(500)]
    data = ("\n".join(lines) + "\n").encode()
    for on_error in ("reject", "null"):
        check_faults(data, skew=5, header=False, schema=["string", "int8"], on_error=on_error, shape=shape(), **options)
    assert left[0] == (0, left[0][1])


@pytest.mark.parametrize("double_quote", [True, False])
def test_two_quotes_at_each_byte_of_a_word(left, double_quote):
    """If quotes are not doubled, the second of two may close a field, and the first is text."""
    options = {"comment": "#", "lenient_quotes": True, "double_quote": double_quote}
    lines = [f'{"x" * (50 + i % 31)},"{"y" * 40}{end}",{i % 99}' for i, end in enumerate(['"', "", '"z', '""'] * 40)]
    data = "\n".join([*lines, "#", ""]).encode()
    check_faults(data, header=False, schema=["string", "string", "int8"], on_error="reject", shape=shape(), **options)
    assert left[0] == (0, left[0][1])


NULLS = {"null_values": ["\\N", "NA"], "escape_char": "\\"}


def test_null_words_with_an_escape():
    """Words are compared with a field as it is written if they have an escape, else with its text."""
    rng = random.Random(7)
    fields = ["\\N", "NA", "\\NA", "N\\A", "5", '"5"', '"NA"', "\\5", ""]
    data = "".join(f"{rng.choice(fields)},{rng.choice(fields)}\n" for _ in range(300)).encode()
    check(data, header=False, schema=["int32", "float64"], on_error="null", shape=shape(), **NULLS)
    check(data, header=False, schema=["string", "int32"], on_error="null", shape=shape(), **NULLS)


def test_records_longer_than_tiles():
    rng = random.Random(8)
    written = WRITTEN["all of them"]
    data = "".join(
        written.between(rng) + written.sep.join([escaped(rng, "ab x" * rng.choice([1, 20, 400])), "1"]) + "\n" for _ in range(40)
    ).encode()
    check(data, header=False, schema=["string", "int8"], shape=shape(), **written.options)
