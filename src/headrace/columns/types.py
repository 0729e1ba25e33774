"""The types of columns, as values.

The native list of types is ``core/types.def``; a test holds this module to it.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from headrace.columns.zone import zone_named
from headrace.core.errors import OptionError

UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
"""Units of timestamps, and how many make a second."""

# name: Arrow format, bits of one value (of one offset, where values vary), format of `struct`
_TYPES: dict[str, tuple[str, int, str]] = {
    "bool": ("b", 1, "?"),
    "int8": ("c", 8, "b"),
    "int16": ("s", 16, "h"),
    "int32": ("i", 32, "i"),
    "int64": ("l", 64, "q"),
    "uint8": ("C", 8, "B"),
    "uint16": ("S", 16, "H"),
    "uint32": ("I", 32, "I"),
    "uint64": ("L", 64, "Q"),
    "float32": ("f", 32, "f"),
    "float64": ("g", 64, "d"),
    "date32": ("tdD", 32, "i"),
    "timestamp": ("ts{unit}:{tz}", 64, "q"),
    "string": ("u", 32, "i"),
    "large_string": ("U", 64, "q"),
}

_ALIASES = {
    "boolean": "bool",
    "int": "int64",
    "long": "int64",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "float": "float64",
    "double": "float64",
    "f32": "float32",
    "f64": "float64",
    "str": "string",
    "utf8": "string",
    "text": "string",
    "object": "string",
    "large_utf8": "large_string",
    "date": "date32",
    "date32[day]": "date32",
    "datetime": "timestamp[us]",
    "timestamp": "timestamp[us]",
}

_CLASSES: dict[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    datetime.date: "date32",
    datetime.datetime: "timestamp[us]",
}

_TIMESTAMP = re.compile(
    r"(?:timestamp|datetime64|datetime)[\[(](?:time_unit=)?'?(s|ms|us|ns)'?"
    r"(?:,\s*(?:tz=|time_zone=)?['\"]?([^'\"\])]+)['\"]?)?[\])]",
    re.IGNORECASE,
)
_UTC = ("utc", "z", "+00:00")


@dataclass(frozen=True, slots=True)
class DataType:
    """Type of a column.

    Parameters
    ----------
    name
        Without unit and zone, e.g. ``"int64"`` or ``"timestamp"``.
    unit
        Of a timestamp: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``.
    tz
        Of a timestamp that is an instant: ``"UTC"``, the name of a time zone (``"Europe/Berlin"``) or an offset (``"+02:00"``);
        None for one that names no zone. Values in memory are UTC, whatever the zone.

    Raises
    ------
    OptionError
        No such type: the name is unknown, a timestamp lacks its unit, or what is no timestamp has a unit or a zone.

    Examples
    --------
    >>> parse_type("timestamp[us, UTC]")
    DataType('timestamp[us, UTC]')
    """

    name: str
    unit: str | None = None
    tz: str | None = None

    def __post_init__(self) -> None:
        if self.name not in _TYPES:
            raise OptionError.unknown("type", self.name, _TYPES)
        is_timestamp = self.name == "timestamp"
        if is_timestamp and self.unit not in UNITS:
            raise OptionError.unknown("unit of timestamp", self.unit, UNITS)
        if not is_timestamp and self.unit is not None:
            raise OptionError(f"{self.name} has no unit, but {self.unit!r} is given")
        if self.tz is not None and not is_timestamp:
            raise OptionError(f"tz of {self.name} must be None, not {self.tz!r}")
        if self.tz is not None:
            zone_named(self.tz)

    def __str__(self) -> str:
        if self.unit is None:
            return self.name
        return f"{self.name}[{self.unit}, {self.tz}]" if self.tz else f"{self.name}[{self.unit}]"

    def __repr__(self) -> str:
        return f"DataType({str(self)!r})"

    @property
    def arrow_format(self) -> str:
        """Format text of the Arrow C data interface."""
        return _TYPES[self.name][0].format(unit=(self.unit or "")[:1], tz=self.tz or "")

    @property
    def bits(self) -> int:
        """Bits of one value in memory; of one offset for strings."""
        return _TYPES[self.name][1]

    @property
    def struct_format(self) -> str:
        """Format of one value (or offset) for `struct` and `memoryview.cast`."""
        return _TYPES[self.name][2]

    @property
    def is_string(self) -> bool:
        """Whether values have offsets."""
        return self.name in ("string", "large_string")

    @property
    def is_numeric(self) -> bool:
        """Whether values are integers or floats."""
        return self.name.startswith(("int", "uint", "float"))

    @property
    def numpy_name(self) -> str | None:
        """dtype of the values as they lie in memory; None for strings and bits."""
        if self.is_string or self.name == "bool":
            return None
        if self.name == "date32":
            return "int32"
        return f"datetime64[{self.unit}]" if self.name == "timestamp" else self.name


def type_names() -> tuple[str, ...]:
    """Every text that `parse_type` gives back as it is."""
    plain = [name for name in _TYPES if name != "timestamp"]
    return (*plain, *(f"timestamp[{unit}{tz}]" for unit in UNITS for tz in ("", ", UTC")))


def parse_type(value: object) -> DataType:
    """Type that `value` stands for.

    Parameters
    ----------
    value
        A `DataType`, its text, a Python class (int, float, bool, str, datetime.date, datetime.datetime), or a type object of
        Arrow, Polars or NumPy, which is taken by its text.

    Raises
    ------
    OptionError
        No such type; the message names the nearest.

    Examples
    --------
    >>> str(parse_type(int)), str(parse_type("datetime64[ns]"))
    ('int64', 'timestamp[ns]')
    """
    if isinstance(value, DataType):
        return value
    text = _CLASSES.get(value, "") if isinstance(value, type) else ""
    text = text or (value.__name__ if isinstance(value, type) else str(value))
    key = text.strip().lower()
    if key == "float" and not isinstance(value, str | type):
        return DataType("float32")  # so Arrow writes its float32; its float64 is "double"
    # Names of time zones have capitals.
    if found := _TIMESTAMP.fullmatch(_ALIASES.get(key, text.strip())):
        zone = found[2] if found[2] and found[2].lower() != "none" else None
        return DataType("timestamp", found[1].lower(), "UTC" if zone and zone.lower() in _UTC else zone)
    key = _ALIASES.get(key, key)
    if key in _TYPES:
        return DataType(key)
    raise OptionError.unknown("type", text, (*type_names(), *_ALIASES))
