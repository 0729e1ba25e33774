"""Checks the arguments of calls: one parser for each kind (flag, choice, integer, text), and the names of other libraries."""

from __future__ import annotations

from io import IOBase
from operator import index

from headrace.core.errors import OptionError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
    from typing import ParamSpec, TypeVar

    ValueT = TypeVar("ValueT")
    Parameters = ParamSpec("Parameters")


class Meaning:
    """An argument under another name: that name, the option that it stands for, and the option's value."""

    __slots__ = ("alias", "option", "value")

    def __init__(self, alias: str, option: str, value: object) -> None:
        self.alias, self.option, self.value = alias, option, value


def resolve_aliases(
    given: dict[str, object], extra: Mapping[str, object], aliases: Mapping[str, str], defaults: Mapping[str, object]
) -> dict[str, object]:
    """Return the options of a call after aliases are resolved.

    Raise OptionError if a name is unknown, or an option is given twice.

    `given`: options under their own names, including defaults.
    `extra`: arguments under other names.
    `aliases`: alias to option name.

    >>> resolve_aliases({"sep": ","}, {"delimiter": ";"}, {"delimiter": "sep"}, {"sep": ","})
    {'sep': ';'}
    """
    if not extra:
        return given
    if unknown := [name for name in extra if name not in aliases]:
        raise OptionError.unknown("option", unknown[0], (*given, *aliases))
    return assign_aliases(given, [Meaning(name, aliases[name], value) for name, value in extra.items()], defaults)


def assign_aliases(given: dict[str, object], meanings: Iterable[Meaning], defaults: Mapping[str, object]) -> dict[str, object]:
    """Return the options of a call with the values that were given under other names.

    Raise OptionError if an option is given twice.

    `given`: options under their own names, including defaults.
    `meanings`: the arguments under other names.
    """
    resolved = dict(given)
    seen: dict[str, str] = {}
    for meaning in meanings:
        name, own = meaning.alias, meaning.option
        if not _same(given[own], defaults[own]):
            raise OptionError(f"{own} and its other name {name} are both given; pass one of them")
        if own in seen:
            raise OptionError(f"{seen[own]} and {name} are both {own}; pass one of them")
        seen[own] = name
        resolved[own] = meaning.value
    return resolved


def refuse_doubles(given: Mapping[str, object], aliases: Mapping[str, str], none_values: Collection[str] = ()) -> None:
    """Raise OptionError if an option is given under two names. An option of None is not given, except those of `none_values`.

    `assign_aliases` does not see an option that is given with the value of its default.
    """
    if aliases.keys().isdisjoint(given):
        return
    seen: dict[str, str] = {}
    for name, value in given.items():
        own = aliases.get(name, name)
        if value is None and own not in none_values:
            continue
        first = seen.setdefault(own, name)
        if first != name and own in (first, name):
            raise OptionError(f"{own} and its other name {first if name == own else name} are both given; pass one of them")
        if first != name:
            raise OptionError(f"{first} and {name} are both {own}; pass one of them")


def single_names(
    aliases: Mapping[str, str], none_values: Collection[str] = ()
) -> Callable[[Callable[Parameters, ValueT]], Callable[Parameters, ValueT]]:
    """Return a decorator: the function refuses calls as `refuse_doubles` does. `aliases`: alias to option name."""
    from functools import wraps  # the command line uses this module, and not this function

    def decorate(function: Callable[Parameters, ValueT]) -> Callable[Parameters, ValueT]:
        @wraps(function)
        def call(*positional: Parameters.args, **given: Parameters.kwargs) -> ValueT:
            refuse_doubles(given, aliases, none_values)
            return function(*positional, **given)

        call.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]
        return call

    return decorate


def _same(value: object, default: object) -> bool:
    # Compare types first: an array compared with None is an array, which has no truth value.
    return value is default or (type(value) is type(default) and value == default)


MOST = 2**62  # maximum of options that are counts
_BOOLS = {"true": True, "false": False}


def flag(name: str, value: object) -> bool:
    """Return a bool of Python or NumPy; other truthy or falsy values are refused."""
    if isinstance(value, bool):
        return value
    if is_bool(value):
        return bool(value)
    meant = _BOOLS.get(value.lower()) if isinstance(value, str) else None
    raise OptionError.wrong(name, "True or False", value, meant)


def integer(name: str, value: object, expected: str, least: int, most: int = MOST) -> int:
    """Return an integer of Python or NumPy from a range; bools are refused. `expected` describes the range in a message.

    >>> integer("skip_rows", 3, "an integer from 0 on", 0)
    3
    """
    if type(value) is int and least <= value <= most:
        return value
    number = index_of(value)
    if number is None:
        raise OptionError.wrong(name, expected, value, _meant(value, least, most))
    if number > most and most == MOST:
        raise OptionError(f"{name} must be at most {MOST}, not {shown(value)}")
    if not least <= number <= most:
        raise OptionError.wrong(name, expected, value)
    return number


def _meant(value: object, least: int, most: int) -> int | None:
    """Return the integer that a text of digits or a float represents, if it is in range."""
    digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19
    if not digits and not (isinstance(value, float) and value.is_integer()):
        return None
    found = int(value)  # type: ignore[call-overload]
    return found if least <= found <= most else None


def index_of(value: object) -> int | None:
    """Return an integer of Python or NumPy as int; None for anything else, including bools and arrays."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else int(value)
    if not hasattr(type(value), "__index__") or hasattr(type(value), "__len__") or is_bool(value):
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_bool(value: object) -> bool:
    """Return whether `value` is a bool of Python or NumPy."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def positive(name: str, value: object) -> int:
    """Return an integer from 1 on."""
    return integer(name, value, "a positive integer or None", 1)


def choice(name: str, value: object, valid: Iterable[str]) -> str:
    """Return one of the valid texts."""
    if isinstance(value, str) and value in valid:
        return str(value)
    raise OptionError.unknown(name, value, valid)


def number(name: str, value: object, expected: str) -> int | float:
    """Return a real number of Python or NumPy; bools are refused."""
    whole = index_of(value)
    if whole is not None:
        return whole
    has_float = hasattr(type(value), "__float__") and hasattr(type(value), "is_integer")
    if isinstance(value, float) or (has_float and not is_bool(value)):  # from Python 3.12 on bools have `is_integer`
        return float(value)  # type: ignore[arg-type]
    raise OptionError.wrong(name, expected, value)


def instance(name: str, value: object, kind: type[ValueT], expected: str = "") -> ValueT:
    """Return an instance of a class."""
    if not isinstance(value, kind):
        raise OptionError.wrong(name, expected or f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}", value)
    return value


def texts(name: str, value: object) -> tuple[bytes, ...]:
    """Return one text or several as UTF-8 bytes, without repetitions."""
    from collections.abc import Mapping  # takes time to import

    if isinstance(value, Mapping):
        raise OptionError(f"{name} holds for all columns, so it must be a text or several, not {shown(value)}")
    several = (value,) if isinstance(value, str | bytes) else value
    if isinstance(several, bytearray | memoryview | IOBase):
        raise OptionError.wrong(name, "a text or several", value)
    try:
        items = iter(several)  # type: ignore[call-overload]
    except TypeError:
        raise OptionError.wrong(name, "a text or several", value) from None
    listed: list[str | bytes] = []
    for text in items:
        if not isinstance(text, str | bytes):
            hint = "; the empty field is ''" if text is None else ""
            raise OptionError(f"{name} holds {shown(text)}, which is not a text{hint}")
        listed.append(text)
    try:
        return tuple(dict.fromkeys(text.encode() if isinstance(text, str) else text for text in listed))
    except UnicodeEncodeError as error:
        raise OptionError(f"{name} holds {shown(error.object)}, which UTF-8 cannot write") from None


class Given:
    """Options as the caller passed them, with a checked getter for each type. `values`: option name to value."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def flag(self, name: str) -> bool:
        """Return a bool; see `flag`."""
        return flag(name, self.values[name])

    def choice(self, name: str, valid: tuple[str, ...]) -> str:
        """Return one of the valid texts."""
        return choice(name, self.values[name], valid)

    def texts(self, name: str) -> tuple[bytes, ...]:
        """Return one text or several as UTF-8, without duplicates."""
        return texts(name, self.values[name])

    def text(self, name: str) -> bytes:
        """Return one text as UTF-8."""
        value = self.values[name]
        if not isinstance(value, str | bytes):
            raise OptionError.wrong(name, "a text", value)
        return self.texts(name)[0]

    def instance(self, name: str, kind: type[ValueT]) -> ValueT:
        """Return an instance of a class."""
        return instance(name, self.values[name], kind)

    def whole(self, name: str) -> int:
        """Return an integer from 0 on."""
        return integer(name, self.values[name], "an integer from 0 on", 0)

    def count(self, name: str) -> int | None:
        """Return a positive integer or None."""
        value = self.values[name]
        return None if value is None else positive(name, value)


PLAIN: frozenset[type] = frozenset({str, bytes, bool, int, type(None), type})  # immutable classes


_MAX_LEVELS = 8  # Levels of nested lists that `frozen` compares. Deeper values, such as a list that contains itself, have no key.


def frozen(value: object, plain: frozenset[type] = PLAIN, levels: int = _MAX_LEVELS) -> Hashable | None:
    """Return a hashable key that is equal for equal values of equal types; None if `value` may be mutable in other ways.

    `value`: an instance of a plain class, or a list, tuple or dict of such.
    `plain`: immutable classes whose instances are equal only if they mean the same.
    `levels`: maximum nesting of lists and dicts.

    >>> frozen({"header": 1}) == frozen({"header": True}), frozen([1, "a"]) == frozen([1, "a"])
    (False, True)
    """
    kind = type(value)
    if kind in plain:
        return kind, value
    if kind is dict:
        inner = frozen((*value, *value.values()), plain, levels)  # type: ignore[misc, attr-defined]
        return None if inner is None else (dict, inner)
    if (kind is not list and kind is not tuple) or levels == 0:
        return None
    several: tuple[object, ...] = tuple(value)  # type: ignore[arg-type]
    kinds = tuple(map(type, several))
    if plain.issuperset(kinds):
        return kind, kinds, several
    parts: list[object] = []
    for one, its_kind in zip(several, kinds, strict=True):
        part = one if its_kind in plain else frozen(one, plain, levels - 1)
        if part is None and one is not None:
            return None
        parts.append(part)
    return kind, kinds, tuple(parts)
