"""Keyword options: the names that other libraries use for them, and what to say of names that nobody knows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from headrace.core.errors import OptionError

ValueT = TypeVar("ValueT")


def resolve_aliases(
    given: dict[str, object], extra: Mapping[str, object], aliases: Mapping[str, str], defaults: Mapping[str, object]
) -> dict[str, object]:
    """`given` options with those that came under another name.

    Parameters
    ----------
    given
        Options under their own names, defaults included.
    extra
        What came under any other name.
    aliases
        Other name to own name.
    defaults
        Values of options that nobody gave.

    Raises
    ------
    OptionError
        A name is unknown, or an option came twice.

    Examples
    --------
    >>> resolve_aliases({"sep": ","}, {"delimiter": ";"}, {"delimiter": "sep"}, {"sep": ","})
    {'sep': ';'}
    """
    if not extra:
        return given
    resolved = dict(given)
    seen: dict[str, str] = {}
    for name, value in extra.items():
        if name not in aliases:
            raise OptionError.unknown("option", name, (*given, *aliases))
        own = aliases[name]
        if not _same(given[own], defaults[own]):
            raise OptionError(f"{own} and its other name {name} are both given; pass one of them")
        if own in seen:
            raise OptionError(f"{seen[own]} and {name} are both {own}; pass one of them")
        seen[own] = name
        resolved[own] = value
    return resolved


def _same(value: object, default: object) -> bool:
    # Of one class first: an array compared with None is an array, which is neither true nor false.
    return value is default or (type(value) is type(default) and value == default)


MOST = 2**62
"""No count may be larger."""


def positive(name: str, value: object) -> int:
    """A whole number from 1 on.

    Raises
    ------
    OptionError
        It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(f"{name} must be a positive whole number or None, not {value!r}")
    if value > MOST:
        raise OptionError(f"{name} must be at most {MOST}, not {value}")
    return value


@dataclass(frozen=True, slots=True)
class Given:
    """Options as they came, taken out by name and checked.

    Parameters
    ----------
    values
        Name to value.
    """

    values: Mapping[str, object]

    def flag(self, name: str) -> bool:
        """A bool, and nothing that merely counts as one."""
        value = self.values[name]
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, not {value!r}")
        return value

    def choice(self, name: str, valid: tuple[str, ...]) -> str:
        """One of a few texts."""
        value = self.values[name]
        if value not in valid:
            raise OptionError.unknown(name, value, valid)
        return str(value)

    def texts(self, name: str) -> tuple[bytes, ...]:
        """One text or several, as UTF-8, each once."""
        value = self.values[name]
        if isinstance(value, Mapping):
            raise OptionError(f"{name} holds for all columns, so it must be a text or several, not {value!r}")
        several = (value,) if isinstance(value, str | bytes) else value
        try:
            listed = list(several)  # type: ignore[call-overload]
        except TypeError:
            raise OptionError(f"{name} must be a text or several, not {value!r}") from None
        for text in listed:
            if not isinstance(text, str | bytes):
                raise OptionError(f"{name} holds {text!r}, which is no text")
        try:
            return tuple(dict.fromkeys(text.encode() if isinstance(text, str) else text for text in listed))
        except UnicodeEncodeError as error:
            raise OptionError(f"{name} holds {error.object!r}, which UTF-8 cannot write") from None

    def text(self, name: str) -> bytes:
        """One text, as UTF-8."""
        value = self.values[name]
        if not isinstance(value, str | bytes):
            raise OptionError(f"{name} must be a text, not {value!r}")
        return self.texts(name)[0]

    def instance(self, name: str, kind: type[ValueT]) -> ValueT:
        """A value of a class."""
        value = self.values[name]
        if not isinstance(value, kind):
            raise OptionError(f"{name} must be a {kind.__name__}, not {value!r}")
        return value

    def whole(self, name: str) -> int:
        """A whole number from 0 on."""
        value = self.values[name]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
            raise OptionError(f"{name} must be a whole number from 0 on, not {value!r}")
        return value

    def count(self, name: str) -> int | None:
        """A positive whole number, or None."""
        value = self.values[name]
        if value is None:
            return None
        return positive(name, value)


PLAIN: frozenset[type] = frozenset({str, bytes, bool, int, type(None), type})
"""Classes of values that nobody can change."""


def frozen(value: object, plain: frozenset[type] = PLAIN) -> Hashable | None:
    """What is equal for values that say the same, and for no others; None for what may be anything.

    Parameters
    ----------
    value
        A plain value, or a list, tuple or dictionary of such.
    plain
        Classes of values that nobody can change, and that are equal only to what says the same.

    Examples
    --------
    >>> frozen({"header": 1}) == frozen({"header": True}), frozen([1, "a"]) == frozen([1, "a"])
    (False, True)
    """
    kind = type(value)
    if kind in plain:
        return kind, value
    if kind is dict:
        inner = frozen((*value, *value.values()), plain)  # type: ignore[misc, attr-defined]
        return None if inner is None else (dict, inner)
    if kind is not list and kind is not tuple:
        return None
    several: tuple[object, ...] = tuple(value)  # type: ignore[arg-type]
    kinds = tuple(map(type, several))
    if plain.issuperset(kinds):
        return kind, kinds, several
    parts: list[object] = []
    for one, its_kind in zip(several, kinds, strict=True):
        part = one if its_kind in plain else frozen(one, plain)
        if part is None and one is not None:
            return None
        parts.append(part)
    return kind, kinds, tuple(parts)
