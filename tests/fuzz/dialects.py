"""Writes dialects.inc: the dialects that the native fuzzers read, with their automata, as initialisers of C++.

Run as ``python tests/fuzz/dialects.py`` after a change to headrace.structure.dialect; a test compares the file with this.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from headrace.structure.dialect import Dialect
from headrace.structure.gpu.dialect_tables import dialect_flags

DIALECTS = [
    Dialect(),
    Dialect(skip_blank_lines=False),
    Dialect(sep="\t", double_quote=False),
    Dialect(sep=";", lineterminator="\n"),
    Dialect(sep="|", quote_char=None),
    Dialect(sep="|", quote_char=None, lineterminator="\n", skip_blank_lines=False),
    Dialect(escape_char="\\"),
    Dialect(escape_char="\\", double_quote=False, comment="#"),
    Dialect(comment="#", skip_initial_space=True),
    Dialect(comment="#", strip=True),
    Dialect(comment="//", skip_blank_lines=False),
    Dialect(sep="||"),
    Dialect(sep="aab", quote_char="'", comment="#//"),
    Dialect(sep="abab", lineterminator=";;", escape_char="\\", comment="##"),
    Dialect(sep="::", lineterminator="\r\n", skip_initial_space=True),
    Dialect(sep=", ", lineterminator="\r\r\n", quote_char=None, escape_char="\\"),
    Dialect(sep="é".encode(), lineterminator="\r\n", skip_blank_lines=False),
    Dialect(lenient_quotes=True),
    Dialect(lenient_quotes=True, sep=";", lineterminator="\n", skip_blank_lines=False),
    Dialect(lenient_quotes=True, escape_char="\\"),
    Dialect(lenient_quotes=True, skip_initial_space=True, comment="#"),
    Dialect(lenient_quotes=True, sep="||", lineterminator="\r\n"),
    Dialect(lenient_quotes=True, sep="aab", quote_char="'", lineterminator=";;", escape_char="\\"),
    Dialect(lenient_quotes=True, double_quote=False),
    Dialect(lenient_quotes=True, double_quote=False, sep="||", escape_char="\\"),
    Dialect(strict_quotes=True),
    Dialect(strict_quotes=True, double_quote=False, lineterminator="\n"),
    Dialect(strict_quotes=True, sep="||", escape_char="\\"),
]
"""Dialects that differ in each option. Some have delimiters of several bytes that overlap themselves, or no quotes, or lenient
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


def _flag(value: int) -> str:
    return "true" if value else "false"


def initialiser(dialect: Dialect) -> str:
    """One DialectText (dialects.hpp)."""
    automaton = dialect.automaton
    other = len(automaton.groups) - 1
    classes = b"".join(bytes([byte, group]) for byte, group in enumerate(automaton.class_of) if group != other)
    plain_options = dialect.escape_char is None and dialect.comment is None and not dialect.skip_initial_space
    line_end = dialect.lineterminator or b"\n"
    plain = len(dialect.sep) == len(line_end) == 1 and plain_options
    sets = (automaton.idle, automaton.quoted, automaton.unfinished, automaton.comment)
    flags = ", ".join(_flag(flag) for flag in dialect_flags(dialect))
    kinds = f"{_flag(plain)}, {_flag(dialect.lineterminator is None)}"
    lengths = f"{len(dialect.sep)}, {automaton.line_end_length}, {automaton.unreal_group or 0}"
    texts = (dialect.sep, dialect.lineterminator, dialect.comment)
    bytes_of = f"{_byte(dialect.quote_char)}, {_byte(dialect.escape_char)}, {dialect.sep[0]}, {line_end[0]}"
    return (
        f"// {str(dialect).removeprefix('Dialect')}\n"
        f"    {{{len(automaton.states)}, {len(automaton.groups)}, {', '.join(map(_bits, sets))},\n"
        f"     {lengths}, {bytes_of}, {{{flags}}}, {kinds},\n"
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
