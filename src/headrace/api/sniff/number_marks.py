"""Decides which marks the numbers of a sample have: a decimal comma, and marks between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import NamedTuple

from headrace.api.sniff.sniff_evidence import COLUMNS_JUDGED, VALUES_JUDGED, has_texts, null_words, values_judged
from headrace.columns.column import Column
from headrace.columns.infer.sniff import POINT, Marks
from headrace.structure.dialect import Dialect

_COMMA = Marks(",")
_SEPARATORS = (b";", b"\t")
"""Separators of texts whose decimal commas are proposed. Programs write them where the comma is the decimal point."""
_NUMBER = re.compile(r"[-+]?\d+,(\d+)(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:,\d{3}|\.\d+)")
_BOTH = re.compile(r"-?[1-9]\d{0,2}(?:([.,'])\d{3})(?:\1\d{3})*(?!\1)([.,])(\d+)")
"""A number with both marks, such as ``1.234,56``. With a ``+`` it may be a telephone's."""
_POINTS_AND_COMMA = re.compile(r"-?[\d.]+,\d+")


class Verdict(NamedTuple):
    """A decision on marks, and its reason for the evidence, which may be empty."""

    proposed: bool
    reason: str


def likely_marks(columns: Mapping[str, Column], dialect: Dialect) -> Iterator[Marks]:
    """Yield the marks that texts of a sample suggest, the ones with the strongest evidence first."""
    texts = [column for column in islice(columns.values(), COLUMNS_JUDGED) if has_texts(column)]
    both = next((found for column in texts if (found := _first_with_both(column, dialect))), None)
    if both is not None and both[1].encode() not in (dialect.quote_char, dialect.escape_char):
        yield Marks(both[2], both[1])
    if dialect.sep in _SEPARATORS and any(_first_with_comma(column) for column in texts):
        yield _COMMA


def verdict_on(marks: Marks, dialect: Dialect, plain: Mapping[str, Column], marked: Mapping[str, Column]) -> Verdict:
    """Decide whether marks are proposed.

    A column of text becomes one of numbers that cannot mean anything else, as ``1,234`` may. No column of numbers becomes text:
    ``1.5`` has a decimal point. No column of numbers gets other values throughout: ``1.234`` over ``2.125`` may have decimal
    points. With ``950`` among them they have thousands. For a decimal comma, no text is ``1,234,567`` or ``1,234.5``, in which
    commas separate thousands.

    `marks`: marks that `likely_marks` yields.
    `plain`, `marked`: the columns of a sample, read with decimal points alone, and with these marks.
    """
    if any(_has_type(column, POINT) and not _has_type(marked[name], marks) for name, column in plain.items()):
        return Verdict(False, "")
    texts = {name: column for name, column in plain.items() if column.type.is_string}
    if marks.decimal == "," and any(_first_match(column, _GROUPED) for column in texts.values()):
        return Verdict(False, "")
    first = _first_with_comma if marks == _COMMA else partial(_first_with_both, dialect=dialect)
    numbers = ((name, first(column)) for name, column in texts.items() if _has_type(marked[name], marks))
    name, number = next(((name, number) for name, number in numbers if number is not None), ("", None))
    if number is None:
        return Verdict(False, "")
    options = f"decimal={marks.decimal!r}" + (f", thousands={marks.thousands!r}" if marks.thousands else "")
    reason = f"{options}: {name!r} has numbers like {number[0]!r}"
    if not marks.thousands:
        return Verdict(True, f"{reason}, and no column has numbers with a point")
    for name, column in plain.items():
        values = _first_values(column, marked[name], marks)
        changed = [pair for pair in values if pair[0] != pair[1]]
        if changed and len(changed) == len(values):
            return Verdict(False, f"not {reason}, since {name!r} has {changed[0][0]} and may have decimal points")
        if changed:
            reason += f", and {name!r} has {changed[0][0]} for {changed[0][1]}"
    return Verdict(True, reason)


def _first_values(plain: Column, marked: Column, marks: Marks) -> list[tuple[object, object]]:
    """Return the first values of a column of numbers with decimal points, and what they are with these marks."""
    if plain.type.is_string:
        words = null_words(plain)
        numbers = [value for value in values_judged(plain) if value not in words] if words else []
        return [(number, number.replace(marks.thousands or "", "")) for number in numbers]
    return [pair for pair in islice(zip(plain, marked, strict=True), VALUES_JUDGED) if pair[0] is not None]


def _has_type(column: Column, marks: Marks) -> bool:
    """Return whether a column is no text, or text only because of words for null."""
    return not column.type.is_string or bool(null_words(column, marks))


def _first_with_comma(column: Column) -> re.Match[str] | None:
    """Return the first text of a column that can only be a number with a decimal comma. ``1,234`` may have thousands instead."""
    numbers = _matches(column, _NUMBER)
    if not _are_decimals([found[1] for found in numbers]):
        return None
    return next((found for found in numbers if not _THOUSANDS.fullmatch(found[0])), None)


def _first_with_both(column: Column, dialect: Dialect) -> re.Match[str] | None:
    """Return the first text of a column that can only be a number with both marks.

    Between commas, ``"52.123,13"`` may be a pair. It is a number if another one has no point, as ``12,50``, or two.
    """
    numbers = _matches(column, _BOTH)
    if not _are_decimals([found[3] for found in numbers]):
        return None
    if numbers and dialect.sep == b"," == numbers[0][2].encode():
        points = {found[0].count(".") for found in _matches(column, _POINTS_AND_COMMA)}
        return numbers[0] if points != {1} else None
    return next(iter(numbers), None)


def _are_decimals(digits: list[str]) -> bool:
    """Return whether digits after a mark may be decimals.

    Programs write either as many in each number, or none that are zeros at the end. So 2,1 and 2,10 are pairs.
    """
    return len(set(map(len, digits))) <= 1 or not any(len(one) > 1 and one.endswith("0") for one in digits)


def _matches(column: Column, form: re.Pattern[str]) -> list[re.Match[str]]:
    return [found for value in values_judged(column) if (found := form.fullmatch(value))]


def _first_match(column: Column, form: re.Pattern[str]) -> re.Match[str] | None:
    return next((found for value in values_judged(column) if (found := form.fullmatch(value))), None)
