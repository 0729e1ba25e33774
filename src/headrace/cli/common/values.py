"""Converts the texts that a user types for flags to the values that `read_csv` takes."""

from __future__ import annotations

import argparse
import re
from typing import Any


def none_if_empty(text: str) -> str | None:
    """Return the text, or None if it is empty."""
    return text or None


def unescaped(text: str) -> str:
    r"""Replace the two characters ``\t``, ``\n`` and ``\r``, as users type them in a shell, by the control character."""
    return text.replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r")


def integer(text: str) -> int:
    """Convert to an integer."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected an integer, got {text!r}") from None


def positive_integer(text: str) -> int:
    """Convert to an integer from 1 on."""
    if (value := integer(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer from 1 on, got {text!r}")
    return value


_MAX_BYTES = 2**63
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def byte_count(text: str) -> int:
    """Convert a number of bytes, such as ``4096``, ``256MB`` (10**6) or ``1.5GiB`` (2**30)."""
    found = re.fullmatch(r"([0-9_]+(?:\.[0-9]+)?) *([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"expected a number of bytes such as 64MB or 1GiB, got {text!r}")
    number, unit, binary = found.groups()
    power = _UNITS[unit.upper()]
    count = float(number) * (2**power if binary else 10 ** (power * 3 // 10))
    if not 1 <= count < _MAX_BYTES:
        raise argparse.ArgumentTypeError(f"expected 1 byte to 8 EB, got {text!r}")
    return int(count)


def indexes(text: str) -> int | list[int]:
    """Convert to an integer, or to several separated by commas."""
    try:
        indexes = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not N,..., e.g. 0 or 0,1") from None
    return indexes[0] if len(indexes) == 1 else indexes


def names(text: str) -> list[str]:
    """Split names at commas; a name with a comma is quoted."""
    import csv  # takes time to import, and few commands have names

    return next(csv.reader([text]), [])


def types(text: str) -> dict[str, str] | str:
    """Split types by column; a comma inside brackets belongs to the type, as in ``when=timestamp[us, UTC]``."""
    parts = [part.strip() for part in re.split(r",(?![^\[(]*[\])])", text)]
    if text and len(parts) == 1 and "=" not in text:
        return text
    types: dict[str, str] = {}
    for part in parts:
        name, equals, kind = part.rpartition("=")
        if not (name and equals and kind):
            raise argparse.ArgumentTypeError(f"{part!r} is not NAME=TYPE, e.g. price=float64")
        if name in types:
            raise argparse.ArgumentTypeError(f"the type of {name!r} is given twice")
        types[name] = kind
    return types


class NoneNamed(argparse.Action):
    """Takes one of the choices; "none" is None."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Store the choice."""
        setattr(namespace, self.dest, None if values == "none" else values)


class DateFormats(argparse.Action):
    """Collects formats for all columns, in order, or by column: ``FORMAT`` or ``NAME=FORMAT``."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Add one format."""
        name, equals, form = values.partition("=")
        if not equals or "%" in name:
            name, form = None, values
        values = getattr(namespace, self.dest, {})
        if values and (name is None) != isinstance(values, list):
            raise argparse.ArgumentError(self, "give formats for all columns or by column, not both")
        values = [*values, form] if name is None else {**values, name: [*values.get(name, []), form]}
        setattr(namespace, self.dest, values)


KINDS: dict[str, dict[str, Any]] = {
    "on": {"action": "store_true"},
    "off": {"action": "store_false"},
    "text": {},
    "texts": {"action": "append"},
    "none_if_empty": {"type": none_if_empty},
    "unescaped": {"type": unescaped},
    "integer": {"type": integer},
    "indexes": {"type": indexes},
    "names": {"type": names},
    "types": {"type": types},
    "formats": {"action": DateFormats},
    "choice": {},
    "choice_or_none": {"action": NoneNamed},
}  # argparse's keywords, by the kind of a flag
