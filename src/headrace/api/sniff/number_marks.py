"""Decides which marks the numbers of a sample have: a decimal comma, and marks between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from headrace.api.sniff.sniff_evidence import null_words, values_judged
from headrace.columns.column import Column
from headrace.columns.infer.sniff import POINT, Marks
from headrace.structure.dialect import Dialect

_COMMA = Marks(",")
_SEPARATORS = (b";", b"\t")
"""Separators of texts whose decimal commas are proposed. Programs write them where the comma is the decimal point."""
_NUMBER = re.compile(r"[-+]?\d+,(\d+)(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:,\d{3}|\.\d+)")
_BOTH = re.compile(r"[-+]?[1-9]\d{0,2}(?:([.,'])\d{3})(?:\1\d{3})*(?!\1)([.,])\d+")
"""A number with both marks, such as ``1.234,56``."""


def likely_marks(columns: Mapping[str, Column], dialect: Dialect) -> Iterator[Marks]:
    """Yield the marks that texts of a sample suggest, the ones with the strongest evidence first."""
    texts = [column for column in columns.values() if column.type.is_string]
    both = next((found for column in texts if (found := _first_match(column, _BOTH))), None)
    if both is not None and both[1].encode() not in (dialect.quote_char, dialect.escape_char):
        yield Marks(both[2], both[1])
    if dialect.sep in _SEPARATORS and any(_first_number(column, _COMMA) for column in texts):
        yield _COMMA


def reason_for(marks: Marks, plain: Mapping[str, Column], marked: Mapping[str, Column]) -> str:
    """Return the reason for marks of numbers; empty if there is none.

    A column of text becomes one of numbers that cannot mean anything else, as ``1,234`` may. No column of numbers becomes text:
    ``1.5`` has a decimal point. For a decimal comma, no text is ``1,234,567`` or ``1,234.5``, in which commas separate thousands.

    Parameters
    ----------
    marks
        Marks that `likely_marks` yields.
    plain, marked
        The columns of a sample, read with decimal points alone, and with these marks.
    """
    if any(_has_type(column, POINT) and not _has_type(marked[name], marks) for name, column in plain.items()):
        return ""
    texts = {name: column for name, column in plain.items() if column.type.is_string}
    if marks.decimal == "," and any(_first_match(column, _GROUPED) for column in texts.values()):
        return ""
    for name, column in texts.items():
        number = _first_number(column, marks) if _has_type(marked[name], marks) else None
        if number is not None:
            options = f"decimal={marks.decimal!r}" + (f", thousands={marks.thousands!r}" if marks.thousands else "")
            other = "" if marks.thousands else ", and no column has numbers with a point"
            return f"{options}: {name!r} has numbers like {number!r}{other}"
    return ""


def _has_type(column: Column, marks: Marks) -> bool:
    """Return whether a column is no text, or text only because of words for null."""
    return not column.type.is_string or bool(null_words(column, marks))


def _first_number(column: Column, marks: Marks) -> str | None:
    """Return the first text of a column that is a number with these marks and nothing else.

    With a decimal comma, ``1,234`` may have thousands. Pairs like 2,1 and 2,10 are no numbers: programs write either as many
    decimals in each number, or none that are zeros at the end.
    """
    if marks != _COMMA:
        found = _first_match(column, _BOTH)
        return found[0] if found and (found[2], found[1]) == marks else None
    numbers = [found for value in values_judged(column) if (found := _NUMBER.fullmatch(value))]
    decimals = [found[1] for found in numbers]
    if len(set(map(len, decimals))) > 1 and any(len(digits) > 1 and digits.endswith("0") for digits in decimals):
        return None
    return next((found[0] for found in numbers if not _THOUSANDS.fullmatch(found[0])), None)


def _first_match(column: Column, form: re.Pattern[str]) -> re.Match[str] | None:
    return next((found for value in values_judged(column) if (found := form.fullmatch(value))), None)
