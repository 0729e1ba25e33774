"""Converts texts to values and kinds with Python's int, float, datetime and fractions; the reference for every backend."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction

from headrace.columns.traits import TRAITS, UNITS
from headrace.columns.types import DataType, parse_type
from headrace.testing.forms import USUAL, Forms, instant_of, moment_of
from headrace.testing.quantities import decimal_digits, duration, is_plain_duration, time_of_day

Value = bool | int | float | str | bytes | None
"""A cell: dates are days since 1970, timestamps whole units since 1970, times and durations whole units, decimals their digits
without the point.
"""


class Misfit(StrEnum):
    """Reason why a text is not a value of a type."""

    TYPE = "type"
    OVERFLOW = "overflow"
    ENCODING = "encoding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Texts that mean null, true and false."""

    null: tuple[bytes, ...] = (b"",)
    true: tuple[bytes, ...] = (b"true", b"True", b"TRUE")
    false: tuple[bytes, ...] = (b"false", b"False", b"FALSE")
    quoted_null: bool = False
    escape: bytes = b""

    def is_written_null(self, raw: bytes, quoted: bool) -> bool:
        """Return whether a field is null by its bytes with escapes: null texts that contain the escape are such bytes."""
        return bool(self.escape) and self.escape in raw and raw in self.null and (self.quoted_null or not quoted)

    def is_null(self, text: bytes, quoted: bool, *, in_text: bool = False) -> bool:
        """Return whether a field is null. In columns other than text, an empty field is null unless no text means null."""
        listed = text in self.null and not (self.escape and self.escape in text)
        means_null = listed or (text == b"" and self.null != () and not in_text)
        return means_null and (self.quoted_null or not quoted)


class Kind(IntEnum):
    """Kind of value that a text looks like; see `join`."""

    EMPTY = 0
    BOOL = 1
    NATURAL = 2
    NEGATIVE = 3
    UINT64 = 4
    FLOAT = 5
    DATE = 6
    TIMESTAMP_US = 7
    TIMESTAMP_NS = 8
    TIMESTAMP_US_UTC = 9
    TIMESTAMP_NS_UTC = 10
    TIME_US = 11
    TIME_NS = 12
    DURATION_US = 13
    DURATION_NS = 14
    HEX = 15
    HEX_UINT64 = 16
    TEXT = 17


_TYPES = {
    Kind.BOOL: "bool",
    Kind.NATURAL: "int64",
    Kind.NEGATIVE: "int64",
    Kind.UINT64: "uint64",
    Kind.FLOAT: "float64",
    Kind.DATE: "date32",
    Kind.TIMESTAMP_US: "timestamp[us]",
    Kind.TIMESTAMP_NS: "timestamp[ns]",
    Kind.TIMESTAMP_US_UTC: "timestamp[us, UTC]",
    Kind.TIMESTAMP_NS_UTC: "timestamp[ns, UTC]",
    Kind.TIME_US: "time64[us]",
    Kind.TIME_NS: "time64[ns]",
    Kind.DURATION_US: "duration[us]",
    Kind.DURATION_NS: "duration[ns]",
    Kind.HEX: "int64",
    Kind.HEX_UINT64: "uint64",
}
_CHAINS = (
    (Kind.NATURAL, Kind.NEGATIVE, Kind.FLOAT),
    (Kind.NATURAL, Kind.UINT64),
    (Kind.DATE, Kind.TIMESTAMP_US, Kind.TIMESTAMP_NS),
    (Kind.TIMESTAMP_US_UTC, Kind.TIMESTAMP_NS_UTC),
    (Kind.TIME_US, Kind.TIME_NS),
    (Kind.DURATION_US, Kind.DURATION_NS),
    (Kind.HEX, Kind.HEX_UINT64),
)
_INT = re.compile(rb"[+-]?[0-9]+")
_HEX = re.compile(rb"([+-]?)0[xX]([0-9a-fA-F]+)")
_FLOAT = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FLOAT_WORD = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_NAN_PAYLOAD = re.compile(rb"[+-]?(s?)nan\(0x([0-9a-f]+)\)", re.IGNORECASE)
_CODE = re.compile(rb"[+-]?0[0-9]|\+[0-9]{7}")  # begin of a number with a leading zero, or of a telephone number


def type_of_kind(kind: Kind) -> DataType:
    """Return the type of a column whose fields' kinds join to `kind`."""
    return parse_type(_TYPES.get(kind, "string"))


def join(a: Kind, b: Kind) -> Kind:
    """Return the smallest kind that includes both: the first that follows both in one of the chains, else text."""
    if b in (a, Kind.EMPTY):
        return a
    if a == Kind.EMPTY:
        return b
    for chain in _CHAINS:
        if a in chain and b in chain:
            return max(a, b)
    return Kind.TEXT


def classify(text: bytes, words: Words, forms: Forms = USUAL) -> Kind:
    """Return the kind of a field that is not null.

    Numbers with a leading zero, telephone numbers, and NaN with a payload are text.
    """
    if text in words.true or text in words.false:
        return Kind.BOOL
    time = _kind_of_time(text, forms)
    if forms.dates_before_numbers and time is not Kind.TEXT:
        return time
    number = _kind_of_number(forms.plain(text))
    kinds = (number, time, _kind_of_clock(text), _kind_of_duration(text))
    return next((kind for kind in kinds if kind is not Kind.TEXT), Kind.TEXT)


def _kind_of_number(text: bytes) -> Kind:
    if not _CODE.match(text):
        if _INT.fullmatch(text):
            return _kind_of_int(text)
        if _HEX.fullmatch(text):
            return _kind_of_hex(text)
        if not _NAN_PAYLOAD.fullmatch(text) and not isinstance(_float(text, 64), Misfit):
            return Kind.FLOAT
    return Kind.TEXT


def _kind_of_hex(text: bytes) -> Kind:
    value = _int(text, 0, 2**64)
    if text.startswith((b"-", b"+")) or isinstance(value, Misfit):
        return Kind.TEXT
    return Kind.HEX if value < 2**63 else Kind.HEX_UINT64


def _kind_of_int(text: bytes) -> Kind:
    if not isinstance(_int(text, -(2**63), 2**63), Misfit):
        return Kind.NEGATIVE if text.startswith(b"-") else Kind.NATURAL
    return Kind.TEXT if isinstance(_int(text, 0, 2**64), Misfit) else Kind.UINT64


def _kind_of_time(text: bytes, forms: Forms) -> Kind:
    moment = moment_of(text, forms)
    if moment is None:
        return Kind.TEXT
    if moment.digits is None:
        return Kind.DATE
    if moment.digits <= 6:
        return Kind.TIMESTAMP_US_UTC if moment.has_offset else Kind.TIMESTAMP_US
    if isinstance(_in_units(moment.nanoseconds, 10**9), Misfit):
        return Kind.TEXT
    return Kind.TIMESTAMP_NS_UTC if moment.has_offset else Kind.TIMESTAMP_NS


def _kind_of_clock(text: bytes) -> Kind:
    clock = time_of_day(text)
    if clock is None:
        return Kind.TEXT
    return Kind.TIME_NS if _is_finer_than_us(text) else Kind.TIME_US


def _kind_of_duration(text: bytes) -> Kind:
    """Return text if the value is out of range in the kind's unit."""
    length = duration(text)
    if length is None or is_plain_duration(text):
        return Kind.TEXT
    kind = Kind.DURATION_NS if _is_finer_than_us(text) else Kind.DURATION_US
    units = 10**9 if kind is Kind.DURATION_NS else 10**6
    return Kind.TEXT if isinstance(_in_units(length, units), Misfit) else kind


def _is_finer_than_us(text: bytes) -> bool:
    return len(text.partition(b".")[2].rstrip(b"S")) > 6


def parse(text: bytes, type_: DataType, words: Words, forms: Forms = USUAL) -> Value | Misfit:
    """Return the value of a field that is not null.

    >>> parse(b"128", parse_type("int8"), Words())
    <Misfit.OVERFLOW: 'overflow'>
    """
    if type_.is_string:
        return text.decode()
    if type_.name == "bool":
        return True if text in words.true else False if text in words.false else Misfit.TYPE
    family = TRAITS[type_.name].family
    if family == "date":
        moment = moment_of(text, forms)
        return Misfit.TYPE if moment is None or moment.digits is not None else moment.nanoseconds // (86400 * 10**9)
    if family == "timestamp":
        moment = moment_of(text, forms)
        if moment is None or (moment.has_offset and type_.tz is None):
            return Misfit.TYPE
        moment = moment if moment.has_offset or type_.tz in (None, "UTC") else instant_of(moment, type_.tz)
        return Misfit.TYPE if moment is None else _in_units(moment.nanoseconds, UNITS[type_.unit or "us"])
    if family == "time":
        clock = time_of_day(text)
        return Misfit.TYPE if clock is None else _in_units(clock, UNITS[type_.unit or "us"])
    if family == "duration":
        length = duration(text)
        return Misfit.TYPE if length is None else _in_units(length, UNITS[type_.unit or "us"])
    if type_.is_binary:
        return text
    if type_.name == "null":
        return Misfit.TYPE
    text = forms.plain(text)
    if type_.name == "decimal128":
        return _decimal(text, type_.precision or 0, type_.scale or 0)
    if type_.name.startswith("float"):
        return _float(text, type_.bits)
    if type_.name.startswith("uint"):
        return _int(text, 0, 2**type_.bits)
    return _int(text, -(2 ** (type_.bits - 1)), 2 ** (type_.bits - 1))


def _int(text: bytes, low: int, end: int) -> int | Misfit:
    if found := _HEX.fullmatch(text):
        value: int = int(found[1] + found[2], 16)
        return value if low <= value < end else Misfit.OVERFLOW
    if not _INT.fullmatch(text):
        return Misfit.TYPE
    # Python refuses to make integers of very long texts.
    digits = text.lstrip(b"+-0")
    if len(digits) > 20:
        return Misfit.OVERFLOW
    value = int(text) if len(text) < 1000 else int(digits or b"0") * (-1 if text.startswith(b"-") else 1)
    return value if low <= value < end else Misfit.OVERFLOW


def _decimal(text: bytes, precision: int, scale: int) -> int | Misfit:
    """Return a decimal's digits. Digits after the scale that would be lost are an overflow."""
    found = decimal_digits(text, scale)
    if found is None:
        return Misfit.TYPE
    digits, zeros = found
    if zeros < 0 or len(str(abs(digits))) + zeros > max(precision, 1):
        return Misfit.OVERFLOW
    return digits * int(10**zeros)


def _float(text: bytes, bits: int) -> float | Misfit:
    if _FLOAT_WORD.fullmatch(text):
        return float(text)
    if (found := _NAN_PAYLOAD.fullmatch(text)) is not None:
        payload = int(found[2], 16)
        return math.nan if (1 if found[1] else 0) <= payload < 1 << {32: 22, 64: 51}[bits] else Misfit.TYPE
    if not _FLOAT.fullmatch(text):
        return Misfit.TYPE
    value = float(text)
    if bits == 32 and value != 0 and math.isfinite(value):
        value = nearest_float32(text.decode(), value)
    return value if math.isfinite(value) else Misfit.OVERFLOW


def nearest_float32(text: str, near: float) -> float:
    """Return the float32 nearest to a decimal, ties to even, by exact fractions; `near` is the text as a double.

    Rounding the double would round twice: 1.00000017881393432617187499 is a midpoint as a double, and below it as it is.
    """
    exact = Fraction(Decimal(text))
    exponent = max(math.frexp(near)[1] - 1, -126)
    step = Fraction(2) ** (exponent - 23)
    rounded = round(exact / step) * step
    return math.copysign(math.inf if abs(rounded) >= 2**128 else float(rounded), near)


def _in_units(nanoseconds: int, units: int) -> int | Misfit:
    """Return a count of units. Digits finer than the unit that would be lost are an overflow."""
    count, lost = divmod(nanoseconds, 10**9 // units)
    return Misfit.OVERFLOW if lost or not -(2**63) <= count < 2**63 else count


_INT_TYPES = [("int8", -(2**7), 2**7), ("uint8", 0, 2**8), ("int16", -(2**15), 2**15), ("uint16", 0, 2**16)]
_INT_TYPES += [("int32", -(2**31), 2**31), ("uint32", 0, 2**32), ("int64", -(2**63), 2**63)]


def smallest_type(type_: DataType, values: list[Value]) -> tuple[DataType, int | None]:
    """Return the smallest type for the values, and the row that forced it unless that is the first value."""
    numbers: list[int | float] = [value if isinstance(value, int | float) else 0 for value in values]
    if type_.name == "float64":
        inexact = (row for row, number in enumerate(numbers) if not _is_float32(number))
        row = next(inexact, None)
        return (parse_type("float32") if row is None else type_), row
    if type_.name != "int64":
        return type_, None
    needed = [next(i for i, (_, low, end) in enumerate(_INT_TYPES) if low <= a and b < end) for a, b in _ranges(numbers)]
    largest = max(needed, default=0)
    return parse_type(_INT_TYPES[largest][0]), needed.index(largest) if largest else None


def _ranges(numbers: list[int | float]) -> Iterator[tuple[int | float, int | float]]:
    """Yield the minimum and maximum of 0 and all numbers up to each."""
    low: int | float = 0
    high: int | float = 0
    for number in numbers:
        low, high = min(low, number), max(high, number)
        yield low, high


def _is_float32(number: float) -> bool:
    try:
        return bool(math.isnan(number) or struct.unpack("f", struct.pack("f", number))[0] == number)
    except OverflowError:
        return False
