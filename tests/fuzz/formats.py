"""Writes formats.inc: the date formats that the native fuzzers read with, as the steps of rules/dates/date_format.hpp.

Run as ``python tests/fuzz/formats.py`` after a change to headrace.columns.date_format; a test compares the file with this.
"""

from __future__ import annotations

from pathlib import Path

from headrace.columns.date_format import DateFormat, date_options, parse_date_format

FORMATS = [
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%y %I:%M %p",
    "%Y%m%d",
    "%Y%m%d%H%M%S%f",
    "%Y-%j",
    "%d %b %Y %T.%f",
    "%B %e, %Y %R %z",
    "%FT%T%z",
    "%s",
    "%s.%f",
    "%y%j %H%M%S %Z",
]
"""Each directive, with and without digits after it."""

_HERE = Path(__file__).parent


def initialiser(format_: DateFormat) -> str:
    """One FormatText (plans.hpp)."""
    return f'    {{"{format_.steps.hex()}", {"true" if format_.may_be_number else "false"}}},'


def text() -> str:
    """The whole file."""
    lines = ["// Made by formats.py: two bytes a step, and whether a text may be a number too."]
    for form in FORMATS:
        lines += [f"    // {form}", initialiser(parse_date_format(form))]
    lines.append("    // dayfirst")
    lines += [initialiser(format_) for format_ in date_options(None, True).shared.formats]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (_HERE / "formats.inc").write_text(text(), encoding="utf-8")
