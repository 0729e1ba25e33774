"""Translates the arguments of a call, under names of this package or of other readers, to options of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headrace.api.options.table import ALIASES, DEFAULTS, MEANS_NONE
from headrace.api.options.word import ForeignCall, Word
from headrace.api.options.word_values import dialect_options
from headrace.api.options.words import WORD_OF
from headrace.core.errors import OptionError, shown
from headrace.core.options import Meaning, assign_aliases


def translate(values: dict[str, object], words: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the value of each option, and a note for each word that changes nothing.

    Raise OptionError if a name is unknown, a word is refused, or an option is given twice.

    `values`: the value of each option, given or default.
    `words`: arguments under other names.

    >>> values, notes = translate(dict(DEFAULTS), {"delimiter": ";", "engine": "c"})
    >>> values["sep"], notes
    (';', ('engine has no effect: there is one engine',))
    """
    notes: list[str] = []
    values = assign_aliases(values, _meanings(values, words, notes), DEFAULTS)
    return values, tuple(notes)


def expand(values: dict[str, object]) -> dict[str, object]:
    """Return the options with values that stand for several options replaced by these options.

    ``columns={"a": "int64"}`` is a schema, as in DuckDB. A `Dialect`, one of Python's `csv`, and
    ``dialect="excel-tab"`` are options.
    """
    columns, dialect = values["columns"], values["dialect"]
    if isinstance(columns, Mapping) and columns:
        values = assign_aliases({**values, "columns": None}, [Meaning("columns", "schema", columns)], DEFAULTS)
    if dialect is not None and (options := dialect_options(dialect)) is not None:
        pairs = [Meaning("dialect", own, value) for own, value in options.items() if value != DEFAULTS[own]]
        values = assign_aliases({**values, "dialect": None}, pairs, DEFAULTS)
    return values


def _meanings(values: dict[str, object], words: Mapping[str, object], notes: list[str]) -> Iterator[Meaning]:
    """Yield the options that the words stand for; add the notes of words without an effect to `notes`."""
    call = ForeignCall(values, dict(words))
    while call.words:
        # Aliases come last, so that the translation of a word may take them together with its value.
        name = next((name for name in call.words if name not in ALIASES and name not in DEFAULTS), next(iter(call.words)))
        value = call.words.pop(name)
        if name in ALIASES or name in DEFAULTS:
            if (meaning := renamed(name, value)) is not None:
                yield meaning
            continue
        if name not in WORD_OF:
            raise OptionError.unknown("option", name, (*DEFAULTS, *ALIASES, *WORD_OF), "help(headrace.read_csv)")
        for own, meant in _translated(WORD_OF[name], value, call, notes).items():
            yield Meaning(name, own, meant)


def renamed(name: str, value: object) -> Meaning | None:
    """Return the option that a value under an option's name or an alias stands for; None if the value means the default."""
    own, word = ALIASES.get(name, name), WORD_OF.get(name)
    if word is not None and word.convert is not None:
        value = word.convert(value)
    return Meaning(name, own, value) if value is not None or DEFAULTS[own] is None or own in MEANS_NONE else None


def _translated(word: Word, value: object, call: ForeignCall, notes: list[str]) -> Mapping[str, object]:
    found = {} if word.translate is None else word.translate(word.name, value, call)
    if word.kind == "refused" and not any(type(value) is type(one) and value == one for one in word.unless):
        raise OptionError(f"{word.name}={shown(value)}: {word.meaning}")
    if word.note and not found:
        notes.append(f"{word.name} has no effect: {word.note}")
    return found
