"""Decides whether the numbers of a sample have decimal commas."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headrace.api.sniff.sniff_evidence import null_words
from headrace.columns.column import Column

SEPARATORS = (b";", b"\t")
"""Separators of texts whose decimal commas are proposed. Programs write them where the comma is the decimal point."""
_VALUES_JUDGED = 200
_NUMBER = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:,\d{3}|\.\d+)")


def may_be_numbers(columns: Mapping[str, Column]) -> bool:
    """Return whether a column of text has a number with a comma that does not separate thousands."""
    return any(_first_number(column) for column in columns.values() if column.type.is_string)


def decimal_evidence(points: Mapping[str, Column], commas: Mapping[str, Column]) -> str:
    """Return the reason for a decimal comma; empty if there is none.

    A column of text becomes one of numbers with a comma that cannot separate thousands, as ``1,234`` may. No column of numbers
    becomes text: ``1.5`` has a decimal point. No text is ``1,234,567`` or ``1,234.5``, in which commas separate thousands.

    Parameters
    ----------
    points, commas
        The columns of a sample, read with decimal points and with decimal commas.
    """
    if any(_has_type(column, ".") and not _has_type(commas[name], ",") for name, column in points.items()):
        return ""
    if any(_first_match(column, _GROUPED) for column in points.values() if column.type.is_string):
        return ""
    for name, column in points.items():
        number = _first_number(column) if column.type.is_string and _has_type(commas[name], ",") else None
        if number is not None:
            return f"decimal=',': {name!r} has numbers like {number!r}, and no column has numbers with a point"
    return ""


def _has_type(column: Column, decimal: str) -> bool:
    """Return whether a column is no text, or text only because of words for null."""
    return not column.type.is_string or bool(null_words(column, decimal))


def _first_number(column: Column) -> str | None:
    """Return the first text of a column that is a number with a decimal comma, and cannot be one with thousands."""
    return _first_match(column, _NUMBER, _THOUSANDS)


def _first_match(column: Column, form: re.Pattern[str], other: re.Pattern[str] | None = None) -> str | None:
    """Return the first text of a column that has a form, and not the other one."""
    values = (value for value in column[:_VALUES_JUDGED] if value is not None)
    return next((value for value in values if form.fullmatch(value) and not (other and other.fullmatch(value))), None)
