"""Defines the row of a parameter of another reader: what it means here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from headrace.core.options import flag

Reader = Literal["pandas", "polars", "pyarrow", "duckdb", "cudf"]


@dataclass(slots=True)
class ForeignCall:
    """The arguments of a call while its foreign words are translated."""

    options: dict[str, object]  # values by the names of this package, with defaults for those that the caller did not give
    words: dict[str, object]  # Arguments under other names that are not translated yet. A translation may take some, or add some.


Translation = Callable[[str, object, ForeignCall], Mapping[str, object]]
"""Returns the values of options that a word stands for. Takes the word, its value and the call."""


@dataclass(frozen=True, slots=True)
class Word:
    """A parameter of other readers."""

    name: str  # its name there
    readers: tuple[Reader, ...]  # readers that have it
    meaning: str = ""
    """Text for docs/coming-from.md, and for messages. If the word is ignored: why. If it is refused: what to do instead."""
    kind: Literal["option", "source", "ignored", "refused", "translated"] = "option"
    """``"option"``: an option of this name, or an alias of one. ``"source"``: the first argument. ``"ignored"``: accepted, and
    noted in the report. ``"refused"``: an error. ``"translated"``: other options stand for its value.
    """
    unless: tuple[object, ...] = ()  # values of a refused word that ask for nothing, such as its default
    translate: Translation | None = None  # function that translates the value; None for the other kinds
    note: str = ""  # note for the report if a value stands for no option; empty for none
    convert: Callable[[object], object] | None = None
    """Function of an alias's value that returns the option's value; None if they are the same."""


def option(name: str, *readers: Reader, meaning: str = "", convert: Callable[[object], object] | None = None) -> Word:
    """Return the row of an option or of one of its aliases; `meaning` says what differs."""
    return Word(name, readers, meaning, convert=convert)


def source(name: str, *readers: Reader) -> Word:
    """Return the row of the parameter that names the source."""
    return Word(name, readers, "the first argument, without a name", "source")


def ignored(name: str, *readers: Reader, why: str) -> Word:
    """Return the row of a word that changes nothing here."""
    return Word(name, readers, why, "ignored", note=why)


def refused(name: str, *readers: Reader, use: str, unless: tuple[object, ...] = (None, False)) -> Word:
    """Return the row of a word that is an error, except with values that ask for nothing."""
    return Word(name, readers, use, "refused", unless)


def translated(name: str, *readers: Reader, by: Translation, meaning: str, note: str = "") -> Word:
    """Return the row of a word that other options stand for."""
    return Word(name, readers, meaning, "translated", translate=by, note=note)


def when(asked: bool, **options: object) -> Translation:
    """Return a translation of a flag: `options` if it is `asked`, nothing otherwise or for None."""

    def translate(name: str, value: object, _: ForeignCall) -> Mapping[str, object]:
        return options if value is not None and flag(name, value) is asked else {}

    return translate


def zero_is_none(value: object) -> object:
    """Return None for 0, which means no limit in DuckDB."""
    return None if value == 0 and type(value) is int else value
