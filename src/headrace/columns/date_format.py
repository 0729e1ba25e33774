"""Compiles `strptime` formats of dates and times to the steps that ``rules/dates/date_format.hpp`` executes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headrace.core.errors import OptionError, shown

DateFormatLike = str | Sequence[str] | Mapping[str | int, str | Sequence[str]] | None
"""One format, several formats in the order in which they are tried, or formats of some columns by name or position."""

_SHORT = {"T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "F": "%Y-%m-%d", "e": "%_%d"}
"""Directives that abbreviate others; ``%_`` is an optional space."""

_MEANINGS = {
    "Y": "year",
    "y": "year",
    "m": "month",
    "B": "month",
    "b": "month",
    "d": "day",
    "j": "day of year",
    "H": "hour",
    "I": "hour",
    "p": "half of the day",
    "M": "minute",
    "S": "second",
    "f": "fraction",
    "z": "offset",
    "Z": "offset",
    "s": "seconds since 1970",
}  # the part of a date that each directive gives; a format may give each once

_NUMBERS = dict.fromkeys("dmHIMS", 2) | {"j": 3, "Y": 4, "y": 2}  # maximum digits of each numeric directive

_NEEDS = {"day": "month", "month": "day", "minute": "hour", "second": "minute", "fraction": "second", "offset": "hour"}
"""Parts that require another one."""

_DAYFIRST = ("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y")


class _DateStep(NamedTuple):
    """A step of a format: a directive's letter and its minimum number of digits, or ``%`` and a literal byte."""

    letter: str
    value: int


_MAY_END = _DateStep("?", 0)


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A compiled format."""

    steps: bytes  # two bytes per step: a directive's letter and its minimum number of digits, or ``%`` and a literal byte
    may_be_number: bool  # True if some texts of this format are also numbers


@dataclass(frozen=True, slots=True)
class DateForms:
    """Formats of the dates and times in a column."""

    formats: tuple[DateFormat, ...] = ()  # the formats, in the order in which they are tried
    iso_first: bool = True  # True if ISO 8601 is tried first; otherwise it is not accepted
    before_numbers: bool = False  # True if inference takes a text that is both a date and a number, such as 20240131, for a date


@dataclass(frozen=True, slots=True)
class DateOptions:
    """`DateForms` of all columns, and of columns with their own, by name or position."""

    shared: DateForms = field(default_factory=DateForms)
    of_columns: Mapping[str | int, DateForms] = field(default_factory=dict)

    @property
    def any_of_them(self) -> DateForms:
        """Return the union of all columns' formats, to recognise values in a first record."""
        of_columns = [each for forms in self.of_columns.values() for each in forms.formats]
        return DateForms(tuple(dict.fromkeys((*self.shared.formats, *of_columns))), iso_first=True)


def date_options(formats: object, dayfirst: bool) -> DateOptions:
    """Parse the options `date_format` and `dayfirst`.

    Raise OptionError if a format is invalid; the message names the directive.
    """
    shared = DateForms(tuple(_compile(form, _dayfirst_steps(form)) for form in _DAYFIRST)) if dayfirst else DateForms()
    if formats is None:
        return DateOptions(shared)
    if isinstance(formats, Mapping):
        return DateOptions(
            shared,
            {
                key: DateForms(_compile_all(each, f"date_format of column {shown(key)}"), iso_first=False, before_numbers=True)
                for key, each in formats.items()
            },
        )
    return DateOptions(DateForms(_compile_all(formats, "date_format"), iso_first=False))


def _compile_all(formats: object, what: str) -> tuple[DateFormat, ...]:
    several = [formats] if isinstance(formats, str) else formats
    if not isinstance(several, Sequence) or isinstance(several, bytes) or not all(isinstance(each, str) for each in several):
        raise OptionError.wrong(what, "a format such as '%d.%m.%Y', or several", formats)
    if not several:
        raise OptionError(f"{what} is empty; pass None for ISO 8601")
    return tuple(parse_date_format(each) for each in several)


def parse_date_format(form: str) -> DateFormat:
    """Compile a format.

    Raise OptionError if a directive is unknown, repeated, or requires another one; or the format has no complete date.

    >>> parse_date_format("%d/%m").steps
    Traceback (most recent call last):
    headrace.core.errors.OptionError: date_format '%d/%m' has no year; %Y or %y gives it
    """
    steps = list(_steps(form))
    _check_meanings(form, [letter for letter, _ in steps])
    return _compile(form, _with_least_digits(form, steps))


def _steps(form: str) -> Iterator[_DateStep]:
    """Yield directives with 0, and ``%`` with each literal byte."""
    characters = iter(form)
    for character in characters:
        if character != "%":
            try:
                yield from (_DateStep("%", byte) for byte in character.encode())
            except UnicodeEncodeError:
                raise OptionError(f"date_format {shown(form)} holds what UTF-8 cannot write") from None
            continue
        letter = next(characters, "")
        if letter == "%":
            yield _DateStep("%", ord("%"))
        elif letter in _SHORT:
            for part in _SHORT[letter].split("%")[1:]:
                yield _DateStep(part[0], 0)
                yield from (_DateStep("%", ord(byte)) for byte in part[1:])
        elif letter in _MEANINGS:
            yield _DateStep(letter, 0)
        else:
            raise OptionError.unknown(
                f"directive of date_format {shown(form)}", f"%{letter}", [f"%{each}" for each in (*_MEANINGS, *_SHORT, "%")]
            )


def _check_meanings(form: str, letters: list[str]) -> None:
    known: dict[str, str] = {}
    for letter in letters:
        meaning = _MEANINGS.get(letter)
        if meaning in known:
            raise OptionError(f"date_format {shown(form)} gives the {meaning} twice: %{known[meaning]} and %{letter}")
        if meaning is not None:
            known[meaning] = letter
    if "seconds since 1970" in known:
        if others := [letter for meaning, letter in known.items() if meaning not in ("seconds since 1970", "fraction")]:
            raise OptionError(f"date_format {shown(form)}: %s is a whole date and time, so %{others[0]} has no place beside it")
        return
    if "year" not in known:
        raise OptionError(f"date_format {shown(form)} has no year; %Y or %y gives it")
    if "day of year" in known and (other := known.get("month") or known.get("day")):
        raise OptionError(f"date_format {shown(form)}: %j is month and day, so %{other} has no place beside it")
    if "day of year" not in known and "month" not in known and "day" not in known:
        raise OptionError(f"date_format {shown(form)} has no month and day; %m and %d give them")
    for meaning, letter in known.items():
        needed = _NEEDS.get(meaning)
        if needed is not None and needed not in known:
            raise OptionError(f"date_format {shown(form)} has %{letter}, but no {needed}")
    if ("half of the day" in known) != (known.get("hour") == "I"):
        raise OptionError(f"date_format {shown(form)}: %I and %p go together")


def _with_least_digits(form: str, steps: list[_DateStep]) -> list[_DateStep]:
    """Determine the minimum digits: a number may lack leading zeros unless digits follow. In ``%d%m%Y`` it has all its digits."""
    result = []
    for (letter, byte), (next_letter, next_byte) in zip(steps, [*steps[1:], _DateStep("", 0)], strict=True):
        digits_follow = next_letter in {*_NUMBERS, "f", "s", "_"} or (next_letter == "%" and chr(next_byte).isdigit())
        if letter in ("f", "s", "z") and digits_follow:
            raise OptionError(f"date_format {shown(form)}: digits follow %{letter}, which takes as many as there are")
        if letter in _NUMBERS:
            digits = _NUMBERS[letter] if digits_follow or letter in ("Y", "y") else 1
            result.append(_DateStep(letter, digits))
        else:
            result.append(_DateStep(letter, byte))
    return result


def _compile(form: str, steps: list[_DateStep]) -> DateFormat:
    return DateFormat(b"".join(bytes([ord(letter), value]) for letter, value in steps), _may_be_number(form))


def _may_be_number(form: str) -> bool:
    """Return whether texts of the format may also be numbers: signs, digits, marks and an exponent. Errs towards true.

    A mark with two digits up to the same mark is in no number, since thousands are groups of three: ``01.02.2020``.
    """
    steps = list(_steps(form))
    literals = bytes(byte for letter, byte in steps if letter == "%")
    for (before, mark), (between, _), (after, again) in zip(steps, steps[1:], steps[2:], strict=False):
        if before == after == "%" and mark == again and not chr(mark).isalnum() and _NUMBERS.get(between) == 2:
            return False
    return not {letter for letter, _ in steps} & set("BbpzZ") and not any(byte in b"/:T" or byte >= 0x80 for byte in literals)


def _dayfirst_steps(form: str) -> list[_DateStep]:
    """Return the steps of a date with optional hours and minutes, seconds, and fraction."""
    parts = [list(_steps(part)) for part in (form, " %H:%M", ":%S", ".%f")]
    whole = _with_least_digits(form, [step for part in parts for step in part])
    steps: list[_DateStep] = []
    for part in parts:
        steps += [*([_MAY_END] if steps else []), *whole[: len(part)]]
        del whole[: len(part)]
    return steps
