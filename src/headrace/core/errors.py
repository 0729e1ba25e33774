"""Defines every error that headrace raises. Each is also the builtin error that a caller would catch."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_LISTED = 30  # maximum number of valid values in a message; longer lists are left out
_MAX_MISSPELLED = 2  # maximum number of characters in which a misspelled name differs
_MAX_NEAR_LENGTH = 60  # maximum length of a value that is compared with the valid ones


def shown(value: object, most: int = 100) -> str:
    """Return the repr of `value` on one line, cut after `most` characters, for a message.

    Examples
    --------
    >>> shown("abc"), shown([1] * 1000, 10)
    ("'abc'", '[1, 1, 1, ...')
    """
    if isinstance(value, str | bytes) and len(value) > most:
        return f"{value[:most]!r}..."
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  a repr may raise anything, such as RecursionError for a list in itself
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[:most]}..."


def counted(count: int, what: str) -> str:
    """Return a number of things in words, for a message.

    Examples
    --------
    >>> counted(1, "row"), counted(1000, "row")
    ('1 row', '1_000 rows')
    """
    return f"{count:_} {what}" if count == 1 else f"{count:_} {what}s"


def nearest(value: str, names: Collection[str]) -> str | None:
    """Return the name that `value` probably misspells: it differs in case, or in one or two characters, or is its first words.

    Examples
    --------
    >>> nearest("delimeter", ["delimiter", "header"]), nearest("batch_rows", ["n_rows"])
    ('delimiter', None)
    >>> nearest("row_index", ["row_index_name", "n_rows"])
    'row_index_name'
    """
    if not 1 < len(value) <= _MAX_NEAR_LENGTH:
        return None
    most = min((len(value) + 1) // 3, _MAX_MISSPELLED)
    found = [(0 if name.lower() == value.lower() else _distance(value, name, most), name) for name in names if name != value]
    letters = sorted(value)  # at equal distances, swapped letters are likelier than other slips
    distance, name = min(found, key=lambda one: (one[0], sorted(one[1]) != letters), default=(most + 1, None))
    begun = (name for name in names if len(value) > 3 and name.lower().startswith(f"{value.lower()}_"))
    return name if distance <= most else next(begun, None)


def _distance(one: str, other: str, most: int) -> int:
    """Return the edit distance (insert, delete, replace, swap neighbours), or `most` + 1 if it exceeds `most`."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


class HeadraceError(Exception):
    """Base of all errors of this package."""


class OptionError(HeadraceError, ValueError):
    """An argument is wrong: an unknown option, a value of the wrong type, or options that contradict each other."""

    @classmethod
    def unknown(cls, what: str, value: object, valid: Iterable[str], listed_in: str = "") -> OptionError:
        """Return an error for a value that is not one of the valid ones. It suggests the nearest, if one is near.

        Otherwise it lists the valid ones, or names the place that lists them (`listed_in`) if there are many.

        Examples
        --------
        >>> print(OptionError.unknown("option", "delimeter", ["delimiter", "header"]))
        unknown option 'delimeter'; did you mean 'delimiter'?
        >>> print(OptionError.unknown("header", "True", ["infer", "True", "False"]))
        unknown header 'True': pass True without quotes
        """
        names = list(valid)
        listed = "; valid: " + ", ".join(shown(name)[1:-1] for name in names)
        if len(names) > _LISTED:
            listed = f"; {listed_in} lists the valid ones" if listed_in else ""
        if not isinstance(value, str):
            as_text = str(value) if isinstance(value, int | None) and not isinstance(value, bool) else ""
            hint = f"; pass the text {as_text!r}" if as_text in names else listed
        elif value in names:
            return cls(f"unknown {what} {value!r}: pass {value} without quotes")
        elif value.title() in names and value.title() in ("True", "False", "None"):
            hint = f"; pass {value.title()} without quotes"
        else:
            near = nearest(value, names)
            hint = listed if near is None else f"; did you mean {near!r}?"
        return cls(f"unknown {what} {shown(value)}{hint}")

    @classmethod
    def wrong(cls, name: str, expected: str, value: object, instead: object = None) -> OptionError:
        """Return an error for an argument of the wrong type or out of range; `instead` is what the caller may have meant.

        Examples
        --------
        >>> print(OptionError.wrong("glob", "True or False", "True", True))
        glob must be True or False, not 'True'; pass glob=True without quotes
        """
        quotes = " without quotes" if isinstance(value, str) else ""
        hint = "" if instead is None else f"; pass {name}={instead!r}{quotes}"
        return cls(f"{name} must be {expected}, not {shown(value)}{hint}")


class UnknownColumnError(OptionError, KeyError):
    """No column of the table has this name."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotes


class OutOfRangeError(OptionError, IndexError):
    """No column or row has this position."""


class SourceError(HeadraceError, OSError):
    """A source cannot be read, or has changed since it was opened."""


class NoMatchError(SourceError, FileNotFoundError):
    """A pattern matches no file, or a folder has none."""


class EmptyInputError(HeadraceError, ValueError):
    """The input has no record, and its columns are not given."""


class MemoryLimitError(HeadraceError, MemoryError):
    """A result exceeds the limit or the available memory. Memory allocated for it has been freed."""


class UnsupportedDeviceError(HeadraceError, RuntimeError):
    """This build or this machine does not have the device."""


class MissingDependencyError(HeadraceError, ImportError):
    """An optional package is not installed."""

    @classmethod
    def of(cls, package: str, extra: str | None, what: str) -> MissingDependencyError:
        """Return an error that says how to install `package`: by an extra of this package, or as its own documentation says."""
        way = (
            f"install it with: pip install 'headrace[{extra}]'" if extra else f"install it as the documentation of {package} says"
        )
        return cls(f"{what} needs {package}; {way}")


_MEANINGS = {
    "type": "expected {expected}, got {text}",
    "overflow": "{text} does not fit {expected}",
    "encoding": "the text is not UTF-8, or not what encoding= names: {text}",
    "quote": "text after a closing quote, or a quote in an unquoted field: {text}",
    "unclosed_quote": "the input ends inside quotes that begin here: expected {expected}, got {text}",
    "too_few_fields": "too few fields: {text}",
    "too_many_fields": "too many fields: {text}",
}
_GO_ON = "pass on_error='null' or 'reject' to go on and find such records in .rejects"
_LENIENT = "lenient_quotes=True, without strict quotes,"
_WAYS = {
    "encoding": "pass encoding= with that of the text, such as 'cp1252'; or " + _GO_ON,
    "unclosed_quote": f"pass {_LENIENT} if this quote is text, or quote_char=None if no field is quoted; or {_GO_ON}",
    "quote": f"pass {_LENIENT} to take such quotes for text; or {_GO_ON}",
    "too_few_fields": "pass short_records='null' to fill them with nulls, or 'reject' to find them in .rejects",
    "too_many_fields": "pass long_records='truncate', 'collect' or 'widen' to keep them, or 'reject' to find them in .rejects",
}
_HEADER_WAY = "pass on_error='null' or 'reject' to take the names as they stand, with the fault in .rejects; "
_HEADER_WAYS = {
    "encoding": f"{_HEADER_WAY}encoding= names another encoding, encoding_errors='replace' mends names, and names= gives others",
    "quote": f"{_HEADER_WAY}{_LENIENT} takes such quotes for text",
    "unclosed_quote": f"{_HEADER_WAY}{_LENIENT} takes such quotes for text",
}
_SHOWN = 80


class ParseError(HeadraceError, ValueError):
    """A record is malformed, or a field does not convert to its column's type.

    Parameters
    ----------
    record
        Number of the data record, from 1; 0 is the header.
    line
        Physical line that the record begins in, from 1.
    byte
        Offset of the fault in the source, from 0.
    column
        Name of the column; None if the whole record is at fault.
    kind
        ``"type"``, ``"overflow"``, ``"encoding"``, ``"quote"``, ``"unclosed_quote"``, ``"too_few_fields"`` or
        ``"too_many_fields"``.
    expected
        Type of the column. For a quoted field that never ends: a closing quote, and the lines that it may be in.
    text
        The field; the record if the whole record is at fault; the first line of a quoted field that never ends.
    source
        Path of the file, if several are read.
    """

    def __init__(
        self,
        *,
        record: int,
        line: int,
        byte: int,
        column: str | None,
        kind: str,
        expected: str | None,
        text: str,
        source: str | None = None,
    ) -> None:
        self.record = record
        self.line = line
        self.byte = byte
        self.column = column
        self.kind = kind
        self.expected = expected
        self.text = text
        self.source = source
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
        what = "header" if record == 0 else f"record {record}"
        where = f"{what} (line {line}, byte {byte})" + (f", column {column!r}" if column is not None else "")
        fault = _MEANINGS[kind].format(expected=expected or "a closing quote", text=repr(shown))
        way_on = _HEADER_WAYS[kind] if record == 0 else _WAYS.get(kind, _GO_ON)
        if "\0" in text:
            way_on = f"zero bytes are in UTF-16 (encoding='utf-16-le') and in files that are not text; otherwise {way_on}"
        file = "" if source is None else f"{source}: "
        super().__init__(f"{file}{where}: {fault}; {way_on}")

    def __reduce__(self) -> tuple[object, ...]:
        return _remake, (self._fields(),)

    def _fields(self) -> dict[str, object]:
        names = ("record", "line", "byte", "column", "kind", "expected", "text", "source")
        return {name: getattr(self, name) for name in names}

    def in_source(self, source: str) -> ParseError:
        """Return the same error for one file among several."""
        return _remake(self._fields() | {"source": source})


def _remake(fields: dict[str, object]) -> ParseError:
    return ParseError(**fields)  # type: ignore[arg-type]
