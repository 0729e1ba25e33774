"""Values of the command's options: from the text that a person types to what `read_csv` takes."""

from __future__ import annotations

import argparse
import csv
import re
from typing import Any


def or_none(text: str) -> str | None:
    """`text`, None if it is empty."""
    return text or None


def unescaped(text: str) -> str:
    r"""`text` with the two characters ``\t``, ``\n`` or ``\r`` for one, as people type them in a shell."""
    return text.replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r")


def whole_number(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected an integer, got {text!r}") from None


def indexes(text: str) -> int | list[int]:
    """One whole number, or several between commas."""
    try:
        indexes = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not N,..., e.g. 0 or 0,1") from None
    return indexes[0] if len(indexes) == 1 else indexes


def names(text: str) -> list[str]:
    """Names between commas; one with a comma in it stands in quotes."""
    return next(csv.reader([text]), [])


def dtypes(text: str) -> dict[str, str] | str:
    """Types by column; a comma inside brackets belongs to the type, as in ``when=timestamp[us, UTC]``."""
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
    """A choice, of which "none" is None."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Take it."""
        setattr(namespace, self.dest, None if values == "none" else values)


class DateFormats(argparse.Action):
    """Formats for all columns, in order, or by column: ``FORMAT`` or ``NAME=FORMAT``."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Take one more."""
        name, equals, form = values.partition("=")
        if not equals or "%" in name:
            name, form = None, values
        taken = getattr(namespace, self.dest, {})
        if taken and (name is None) != isinstance(taken, list):
            raise argparse.ArgumentError(self, "give formats for all columns or by column, not both")
        taken = [*taken, form] if name is None else {**taken, name: [*taken.get(name, []), form]}
        setattr(namespace, self.dest, taken)
