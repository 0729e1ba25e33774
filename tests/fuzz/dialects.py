"""Writes dialects.inc: the dialects that the native fuzzers read, with their automata, as initialisers of C++.

Run as ``python tests/fuzz/dialects.py`` after a change to headrace.structure.dialect; a test compares the file with this.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from headrace.structure.dialect import Dialect

DIALECTS = [
    Dialect(),
    Dialect(skip_blank_lines=False),
    Dialect(sep="\t", double_quote=False),
    Dialect(sep=";", line_end="\n"),
    Dialect(sep="|", quote=None),
    Dialect(sep="|", quote=None, line_end="\n", skip_blank_lines=False),
    Dialect(escape="\\"),
    Dialect(escape="\\", double_quote=False, comment="#"),
    Dialect(comment="#", skip_initial_space=True),
    Dialect(comment="//", skip_blank_lines=False),
    Dialect(sep="||"),
    Dialect(sep="aab", quote="'", comment="#//"),
    Dialect(sep="abab", line_end=";;", escape="\\", comment="##"),
    Dialect(sep="::", line_end="\r\n", skip_initial_space=True),
    Dialect(sep=", ", line_end="\r\r\n", quote=None, escape="\\"),
    Dialect(sep="é".encode(), line_end="\r\n", skip_blank_lines=False),
    Dialect(lenient=True),
    Dialect(lenient=True, sep=";", line_end="\n", skip_blank_lines=False),
    Dialect(lenient=True, escape="\\"),
    Dialect(lenient=True, skip_initial_space=True, comment="#"),
    Dialect(lenient=True, sep="||", line_end="\r\n"),
    Dialect(lenient=True, sep="aab", quote="'", line_end=";;", escape="\\"),
    Dialect(lenient=True, double_quote=False),
    Dialect(lenient=True, double_quote=False, sep="||", escape="\\"),
    Dialect(strict=True),
    Dialect(strict=True, double_quote=False, line_end="\n"),
    Dialect(strict=True, sep="||", escape="\\"),
]
"""What one of them has and another has not: each option, delimiters of several bytes that overlap themselves, no quotes, lenient
quotes found by masks and by steps.
"""

_HERE = Path(__file__).parent


def _bits(states: Iterable[int]) -> str:
    return f"{sum(1 << state for state in states):#x}"


def _hexadecimal(rows: Iterable[bytes]) -> str:
    """Some rows of a table as one string literal each, that C++ joins."""
    return "\n     ".join(f'"{row.hex()}"' for row in rows)


def _byte(value: bytes | None) -> str:
    return "-1" if value is None else str(value[0])


def _text(value: bytes | None) -> str:
    return f'"{(value or b"").hex()}"'


def _flag(value: bool) -> str:
    return "true" if value else "false"


def initialiser(dialect: Dialect) -> str:
    """One DialectText (dialects.hpp)."""
    automaton = dialect.automaton
    other = len(automaton.groups) - 1
    classes = b"".join(bytes([byte, group]) for byte, group in enumerate(automaton.class_of) if group != other)
    plain_options = dialect.escape is None and dialect.comment is None and not dialect.skip_initial_space
    line_end = dialect.line_end or b"\n"
    plain = len(dialect.sep) == len(line_end) == 1 and plain_options
    sets = (automaton.idle, automaton.quoted, automaton.unfinished, automaton.comment)
    flags = (
        dialect.double_quote,
        dialect.lenient,
        dialect.strict,
        dialect.skip_initial_space,
        dialect.skip_blank_lines,
        plain,
        dialect.line_end is None,
    )
    lengths = f"{len(dialect.sep)}, {automaton.line_end_length}, {automaton.unreal_group or 0}"
    texts = (dialect.sep, dialect.line_end, dialect.comment)
    bytes_of = f"{_byte(dialect.quote)}, {_byte(dialect.escape)}, {dialect.sep[0]}, {line_end[0]}"
    return (
        f"// {str(dialect).removeprefix('Dialect')}\n"
        f"    {{{len(automaton.states)}, {len(automaton.groups)}, {', '.join(map(_bits, sets))},\n"
        f"     {lengths}, {bytes_of}, {', '.join(map(_flag, flags))},\n"
        f"     {', '.join(map(_text, texts))},\n"
        f'     "{classes.hex()}",\n'
        f"     {_hexadecimal(automaton.next)},\n"
        f"     {_hexadecimal(automaton.emit)}}},\n"
    )


def text() -> str:
    """The whole file."""
    return "// Made by dialects.py, in the order of DialectText (dialects.hpp): plain ones are found by masks.\n" + "".join(
        "    " + initialiser(dialect) for dialect in DIALECTS
    )


if __name__ == "__main__":
    (_HERE / "dialects.inc").write_text(text(), encoding="utf-8")
