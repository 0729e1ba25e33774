"""Defines the types of keys and values, takes callers' arrays of them, and describes a map's memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headrace.arrange.sort.key_order import KeyOrder
from headrace.arrays.arrays import TORCH_TYPES, Array, integers_of_times, needed_numpy, plain_array, width_of
from headrace.arrays.inputs import as_line, named_type
from headrace.arrays.placement import apart_error, placed
from headrace.core.budget import Budget
from headrace.core.context import Context
from headrace.core.errors import OptionError
from headrace.index.item_types import items_of_type, time_type

MAX_BATCH = (1 << 32) - 2  # maximum number of keys in a call
TEXT = "string"  # type of keys that are texts
TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")  # types of keys and values that are numbers


@dataclass(frozen=True, slots=True)
class PairTypes:
    """Types of a map's keys and values."""

    key: str
    value: str  # Types in NumPy's notation, such as `"<i4"`, or `TEXT` for keys. The value of a set is `""`.
    columns: tuple[tuple[str, str], ...] = ()  # name and type of each column of the keys, which are then `TEXT`; () for one

    @classmethod
    def of(cls, key_type: Any, value_type: Any = None) -> PairTypes:
        """Return the types of a map, or of a set if there is no type of values.

        Raise OptionError if a type is neither a number of 4 or 8 bytes nor one of instants or durations, and the keys are no
        texts.

        `key_type`: a mapping from names to types, if the keys have several columns.

        >>> PairTypes.of("int32", float)
        PairTypes(key='<i4', value='<f8', columns=())
        """
        value = "" if value_type is None else _typestr("value_type", value_type)
        if not isinstance(key_type, Mapping):
            return cls(_key_typestr("key_type", key_type), value)
        if not key_type or not all(isinstance(name, str) for name in key_type):
            raise OptionError.wrong("key_type", "a type, or a mapping from names of columns to types", key_type)
        return cls(TEXT, value, tuple((name, _key_typestr(f"key_type[{name!r}]", given)) for name, given in key_type.items()))

    @property
    def has_text_keys(self) -> bool:
        """True if the keys are texts, or are packed into texts."""
        return self.key == TEXT

    @property
    def key_type(self) -> str | dict[str, str]:
        """Type of the keys, or of each of their columns."""
        return dict(self.columns) if self.columns else self.key

    @property
    def widths(self) -> tuple[int, int]:
        """Bytes of a key and of a value."""
        return width_of(self.key), width_of(self.value) if self.value else 0

    @property
    def value_kind(self) -> str:
        """Letter of the values' type: ``"i"`` (also for instants and durations), ``"u"`` or ``"f"``; ``"u"`` for a set."""
        if not self.value:
            return "u"
        return "i" if self.value[1] in "mM" else self.value[1]

    @property
    def value_rule(self) -> bytes:
        """The order of values: ascending, floats in IEEE's totalOrder (``KeyRule`` of sort_key.hpp)."""
        return KeyOrder.of(self.value, total_order=True).packed

    def __str__(self) -> str:
        keys = [f"{name} {_name_of(typestr)}" for name, typestr in self.columns] or [_name_of(self.key)]
        return ", ".join([*keys, *([_name_of(self.value)] if self.value else [])])


@dataclass(frozen=True, slots=True)
class HashStatistics:
    """The memory of a map.

    `nbytes`: bytes of the tables, with empty slots.
    `utilisation`: bytes of the pairs divided by `nbytes`; 0 for an empty map.
    `slabs`: number of slabs in use on a GPU; None on the CPU.
    `max_chain`: slabs of the longest chain on a GPU; None on the CPU.
    """

    size: int
    capacity: int
    nbytes: int
    utilisation: float
    slabs: int | None = None
    max_chain: int | None = None


def array_of(value: Any, name: str, typestr: str, context: Context, budget: Budget) -> Array:
    """Return keys or values of a caller as an array of the map's type on the map's device.

    Raise OptionError if the items have another type, are too many, or are on another device.

    `value`: array of one dimension of that type, a Series, a list whose items the type has, or one item. Items that are
    instants or durations may be those of Python, and texts of ISO 8601.
    `typestr`: the map's type.
    """
    found = plain_array(value, typestr, context.device) or _placed(value, name, typestr, context, budget)
    if found.length > MAX_BATCH:
        raise OptionError(f"{name} has {found.length} items, at most {MAX_BATCH} go into one call; pass them in parts")
    return found


def _placed(value: Any, name: str, typestr: str, context: Context, budget: Budget) -> Array:
    """Return an array as `array_of` does, of any length."""
    if isinstance(value, (int, float)) or (hasattr(value, "dtype") and getattr(value, "ndim", None) == 0):
        value = [value]
    if typestr[1] in "mM" and not (isinstance(value, (list, tuple)) and not value):
        value = as_line(items_of_type(value, typestr, name), name)
    else:
        value = _listed(value, name, typestr) if isinstance(value, (list, tuple, range)) else as_line(value, name)
    found = placed(value, name, context, budget)
    if found.typestr != typestr:
        wanted = _name_of(typestr)
        how = integers_of_times(found.typestr) or f"; pass {name} as {wanted}"
        raise OptionError(f"{name} are of type {_name_of(found.typestr)}, and the map has {wanted}{how}")
    if found.device != context.device:
        raise apart_error(found.device, context.device)
    return found


def check_length(values: Array, keys: Array) -> None:
    """Raise `OptionError` unless there is one value for each key."""
    if values.length != keys.length:
        raise OptionError(f"values has {values.length} items for {keys.length} keys")


def _listed(value: Any, name: str, typestr: str) -> Any:
    """Return a list as an array of a type, if that has each item."""
    np = needed_numpy(f"{name}, a list,")
    if typestr[1] in "iu" and isinstance(value, (list, tuple)) and all(type(item) is int for item in value):
        try:
            return np.array(value, typestr)  # NumPy finds float64 for a list of integers up to 2**64
        except OverflowError:
            raise OptionError(f"{name} has items that {_name_of(typestr)} does not have") from None
    found = as_line(value, name)
    if found.dtype.str == typestr or not len(found):
        return found.astype(typestr)
    if found.dtype.kind not in "iuf":
        raise OptionError(f"{name} has items that are not numbers; the map has {_name_of(typestr)}")
    with np.errstate(all="ignore"):
        result = found.astype(typestr)
    if typestr[1] != "f" and not (result == found).all():
        raise OptionError(f"{name} has items that {_name_of(typestr)} does not have")
    return result


def _key_typestr(name: str, given: Any) -> str:
    return TEXT if _is_text(given) else _typestr(name, given)


def _typestr(name: str, given: Any) -> str:
    try:
        found = named_type(given, name)
    except OptionError as error:
        times = time_type(given)  # needs NumPy, which maps of numbers are made without
        if times is None:
            several = "; keys of several columns: a mapping from names to types" if name == "key_type" else ""
            raise OptionError(f"{error}{several}") from None
        return times
    if found not in TYPES:
        raise OptionError.unknown(name, found, TYPES)
    return TORCH_TYPES[found]


def _is_text(given: Any) -> bool:
    """Return whether a type is that of texts, in any spelling: of Python, NumPy, PyArrow, Polars, pandas, or a string."""
    if given is str or isinstance(given, (list, tuple, dict, set)):
        return given is str
    return str(given).lower() in {"string", "str", "utf8", "large_string", "string_view"} or getattr(given, "kind", None) == "U"


def _name_of(typestr: str) -> str:
    kinds = {"i": "int", "u": "uint", "f": "float", "m": "timedelta", "M": "datetime"}
    kind = kinds.get(typestr[1])
    return typestr if kind is None else f"{kind}{8 * width_of(typestr)}{typestr[3:]}"
