"""Defines the types of columns and parses them from text, Python classes and other libraries' type objects.

`headrace.columns.traits` has what depends on a type's name alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from headrace.columns.traits import TRAITS, UNITS
from headrace.columns.type_aliases import DICTIONARY, TYPE_ALIASES, TYPE_OF_CLASS, UNSUPPORTED_TYPES, usual_name
from headrace.columns.zone import zone_named
from headrace.core.errors import OptionError, shown

_MAX_PRECISION = 38
_EXAMPLE_DECIMAL = "decimal128(38, 9)"


ENCODED = ("string_view", "dictionary")
"""Types that are encoded from a loaded column of strings. The native loader does not have them."""

_TIMESTAMP = re.compile(
    r"(?:timestamp|datetime64|datetime)[\[(](?:time_unit=)?'?(s|ms|us|ns)'?"
    r"(?:,\s*(?:tz=|time_zone=)?['\"]?([^'\"\])]+)['\"]?)?[\])]",
    re.IGNORECASE,
)
_UTC = ("utc", "z", "+00:00")
_WITH_UNIT = "|".join(name for name, traits in TRAITS.items() if traits.units)
_FIRST_WORD = re.compile(r"\w*")
_TIME = re.compile(rf"({_WITH_UNIT}|timedelta64|timedelta)[\[(](?:time_unit=)?'?({'|'.join(UNITS)})'?[\])]")
_DECIMAL = re.compile(r"(?:decimal128|decimal|numeric)(?:\s*\((?:precision=)?(\d{1,4}|none)(?:,\s*(?:scale=)?(-?\d{1,4}))?\))?")


@dataclass(frozen=True, slots=True)
class DataType:
    """Type of a column.

    Parameters
    ----------
    name
        Name without unit, zone and digits, e.g. ``"int64"`` or ``"timestamp"``.
    unit
        Unit of a timestamp or a duration: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``. A time32 takes the first two, a time64 the
        others.
    tz
        Zone of a timestamp that is an instant: ``"UTC"``, the name of a time zone (``"Europe/Berlin"``) or an offset
        (``"+02:00"``). None for a timestamp without a zone. Values in memory are UTC in every zone.
    precision, scale
        Digits of a decimal128: at most `precision` in total, 1 to 38, and `scale` of them after the point.

    Raises
    ------
    OptionError
        The name is unknown, or a unit, zone, precision or scale is missing, wrong, or given to a type that has none.

    Examples
    --------
    >>> parse_type("timestamp[us, UTC]")
    DataType('timestamp[us, UTC]')
    >>> parse_type("bigint") == "int64"
    True
    """

    name: str
    unit: str | None = None
    tz: str | None = None
    precision: int | None = None
    scale: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in TRAITS:
            raise OptionError.unknown("type", self.name, TRAITS)
        is_timestamp = self.name == "timestamp"
        units = TRAITS[self.name].units
        if units and not (isinstance(self.unit, str) and self.unit in units):
            raise OptionError.unknown(f"unit of {self.name}", self.unit, units)
        if not units and self.unit is not None:
            raise OptionError(f"{self.name} has no unit, but {shown(self.unit)} is given")
        self._check_digits()
        if self.tz is not None and not is_timestamp:
            raise OptionError.wrong(f"tz of {self.name}", "None", self.tz)
        if self.tz is not None:
            if not isinstance(self.tz, str):
                raise OptionError.wrong("tz", "the name of a time zone", self.tz)
            zone_named(self.tz)

    def _check_digits(self) -> None:
        if self.name != "decimal128":
            if self.precision is not None or self.scale is not None:
                given = f"{shown(self.precision)} and {shown(self.scale)}"
                raise OptionError(f"{self.name} has no precision and scale, but {given} are given")
            return
        if not _is_in(self.precision, 1, _MAX_PRECISION):
            raise OptionError.wrong("precision of decimal128", f"1 to {_MAX_PRECISION} digits", self.precision)
        if not _is_in(self.scale, 0, self.precision):
            raise OptionError.wrong("scale of decimal128", f"0 to the precision {self.precision}", self.scale)

    def __eq__(self, other: object) -> bool:
        """Compare with a type, or with anything that stands for one: its text, a Python class, a type of another library."""
        if isinstance(other, DataType):
            same_value = self.unit == other.unit and self.precision == other.precision
            return self.name == other.name and same_value and self.tz == other.tz and self.scale == other.scale
        if other is None or isinstance(other, int | float | bytes):
            return False
        try:
            return self == parse_type(other)
        except OptionError:
            return False

    def __hash__(self) -> int:
        """Return the hash of the type's text, which is equal to the type."""
        is_plain = self.unit is None and self.precision is None and self.name != "dictionary"
        return hash(self.name if is_plain else str(self))

    def __str__(self) -> str:
        if self.name == "decimal128":
            return f"decimal128({self.precision}, {self.scale})"
        if self.name == "dictionary":
            return DICTIONARY
        if self.unit is None:
            return self.name
        return f"{self.name}[{self.unit}, {self.tz}]" if self.tz else f"{self.name}[{self.unit}]"

    def __repr__(self) -> str:
        return f"DataType({str(self)!r})"

    @property
    def arrow_format(self) -> str:
        """Format string of the Arrow C data interface."""
        parts = {"unit": (self.unit or "")[:1], "tz": self.tz or "", "precision": self.precision, "scale": self.scale}
        return TRAITS[self.name].arrow.format(**parts)

    @property
    def bits(self) -> int:
        """Bits of one value, offset (strings and bytes), view or dictionary code in memory."""
        return TRAITS[self.name].bits

    @property
    def struct_format(self) -> str:
        """Format of one value (or offset) for `struct` and `memoryview.cast`; empty for decimal128 and null."""
        return TRAITS[self.name].struct

    @property
    def is_string(self) -> bool:
        """True if values are texts, stored with offsets or as views."""
        return TRAITS[self.name].family == "string"

    @property
    def is_binary(self) -> bool:
        """True if values are bytes."""
        return TRAITS[self.name].family == "binary"

    @property
    def is_numeric(self) -> bool:
        """True if values are integers or floats. Decimals are neither."""
        return TRAITS[self.name].family in ("integer", "float")

    @property
    def numpy_dtype(self) -> str | None:
        """NumPy dtype of the array that `Column.to_numpy` returns; None if it has objects."""
        return TRAITS[self.name].numpy.format(unit=self.unit) or None

    @property
    def numpy_name(self) -> str | None:
        """NumPy dtype of the values in memory; None for strings, bytes, bools, decimals and nulls."""
        traits = TRAITS[self.name]
        if not traits.numpy or self.name == "bool":
            return None
        return self.numpy_dtype if self.is_numeric or traits.bits == 64 else f"int{traits.bits}"

    @property
    def sql_name(self) -> str:
        """Name of the type in SQL, as DuckDB has it."""
        if self.tz is not None:
            return "TIMESTAMP WITH TIME ZONE"
        if self.name == "timestamp":
            return "TIMESTAMP" if self.unit == "us" else f"TIMESTAMP_{self.unit}".upper()
        return TRAITS[self.name].sql.format(precision=self.precision, scale=self.scale)

    @property
    def loaded_as(self) -> DataType:
        """The type that is loaded first, if this one is encoded from it afterwards; otherwise this type."""
        return DataType("string") if self.name in ENCODED else self


def type_names() -> tuple[str, ...]:
    """Return every text that equals the `str` of the type it is parsed to, with one example for decimals."""
    plain = [name for name, traits in TRAITS.items() if not traits.units and name not in ("decimal128", "dictionary")]
    with_unit = [f"{name}[{unit}]" for name, traits in TRAITS.items() for unit in traits.units]
    return (*plain, *with_unit, *(f"timestamp[{unit}, UTC]" for unit in UNITS), _EXAMPLE_DECIMAL, DICTIONARY)


def has_offsets(type_: DataType) -> bool:
    """Return whether a column of this type has a buffer of offsets: strings and bytes, except views."""
    return TRAITS[type_.name].family in ("string", "binary") and type_.name != "string_view"


def _is_in(value: object, low: int, high: int | None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= (high or 0)


def parse_type(value: object) -> DataType:
    """Return the type that `value` stands for.

    Raise OptionError if there is no such type (the message names the nearest), or a decimal lacks its precision.

    Parameters
    ----------
    value
        A `DataType`, its text, a Python class, or a type object of Arrow, Polars or NumPy, which is parsed from its text. The
        classes are int, float, bool, str, bytes, date, datetime, time and timedelta.

    Examples
    --------
    >>> str(parse_type(int)), str(parse_type("datetime64[ns]"))
    ('int64', 'timestamp[ns]')
    >>> str(parse_type("numeric(12, 2)"))
    'decimal128(12, 2)'
    """
    if isinstance(value, DataType):
        return value
    text = TYPE_OF_CLASS.get(value, "") if isinstance(value, type) else ""
    text = text or _text_of(value)
    text = usual_name(text)
    key = text.lower()
    if key == "float" and not isinstance(value, str | type):
        return DataType("float32")  # Arrow's text for float32; its float64 is "double"
    # Names of time zones have capitals.
    if found := _TIMESTAMP.fullmatch(TYPE_ALIASES.get(key, text.strip())):
        zone = found[2] if found[2] and found[2].lower() != "none" else None
        return DataType("timestamp", found[1].lower(), "UTC" if zone and zone.lower() in _UTC else zone)
    key = TYPE_ALIASES.get(key, key)
    if found := _TIME.fullmatch(key):
        name, unit = found.groups()
        return DataType("duration" if name.startswith("timedelta") else name, unit)
    if found := _DECIMAL.fullmatch(key):
        return _decimal(text, *found.groups())
    if key in (DICTIONARY, "dictionary"):
        return DataType("dictionary")
    if key in TRAITS:
        return DataType(key)
    word = _FIRST_WORD.match(key)
    if word is not None and word[0] in UNSUPPORTED_TYPES:
        raise OptionError(f"no column has the type {shown(text)}: {UNSUPPORTED_TYPES[word[0]]}")
    raise OptionError.unknown("type", text, (*type_names(), *TYPE_ALIASES), "help(headrace.read_csv)")


def _text_of(value: object) -> str:
    """Return the name that a type has for itself."""
    if isinstance(value, str):
        return value
    if isinstance(value, type):
        return value.__name__
    try:
        return " ".join(str(value).split())
    except Exception:  # noqa: BLE001  `str` of a foreign object may raise anything
        return shown(value)


def _decimal(text: str, precision: str | None, scale: str | None) -> DataType:
    if precision is None:
        raise OptionError(f"{text} lacks its precision and scale; write for example {_EXAMPLE_DECIMAL!r}")
    digits = _MAX_PRECISION if precision == "none" else int(precision)
    return DataType("decimal128", precision=digits, scale=int(scale or 0))
