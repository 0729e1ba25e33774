"""Every error that headrace raises. Each is also the builtin that a caller would catch."""

from __future__ import annotations

from collections.abc import Iterable

_LISTED = 30
"""So many valid values are named where none is near."""


class HeadraceError(Exception):
    """Base of all errors of this package."""


class OptionError(HeadraceError, ValueError):
    """A call makes no sense: an unknown option, a value of the wrong kind, options that contradict each other."""

    @classmethod
    def unknown(cls, what: str, value: object, valid: Iterable[str]) -> OptionError:
        """An error that names the nearest of the valid values.

        Examples
        --------
        >>> print(OptionError.unknown("option", "delimeter", ["delimiter", "header"]))
        unknown option 'delimeter'; did you mean 'delimiter'?
        """
        import difflib  # seldom needed, and slow to import

        names = list(valid)
        near = difflib.get_close_matches(str(value), names, 1)
        listed = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        hint = f"did you mean {near[0]!r}?" if near else f"valid: {listed}"
        return cls(f"unknown {what} {value!r}; {hint}")


class SourceError(HeadraceError, OSError):
    """A source cannot be read, or is not what it was when it was opened."""


class NoMatchError(SourceError, FileNotFoundError):
    """A pattern that matches no file, or a folder without one."""


class EmptyInputError(HeadraceError, ValueError):
    """The input holds no record, and nothing says what its columns are."""


class MemoryLimitError(HeadraceError, MemoryError):
    """A result does not fit the limit, or the memory there is; everything taken for it was given back."""


class UnsupportedDeviceError(HeadraceError, RuntimeError):
    """This build, or this machine, has no such device."""


class MissingDependencyError(HeadraceError, ImportError):
    """An optional package is needed."""

    @classmethod
    def of(cls, package: str, extra: str, what: str) -> MissingDependencyError:
        """An error that says how to get `package`."""
        return cls(f"{what} needs {package}; install it with: pip install 'headrace[{extra}]'")


_MEANINGS = {
    "type": "expected {expected}, got {text}",
    "overflow": "{text} does not fit {expected}",
    "encoding": "the text is not UTF-8, or not what encoding= names: {text}",
    "quote": "a quote where none may stand, or text behind a closing quote: {text}",
    "unclosed_quote": "the input ends inside quotes that begin here: {text}",
    "too_few_fields": "too few fields: {text}",
    "too_many_fields": "too many fields: {text}",
}
_GO_ON = "pass on_error='null' or 'reject' to go on and find such records in .rejects"
_WAYS = {
    "too_few_fields": "pass short_records='null' to fill them with nulls, or 'reject' to find them in .rejects",
    "too_many_fields": "pass long_records='truncate', 'collect' or 'widen' to keep them, or 'reject' to find them in .rejects",
}
_SHOWN = 80


class ParseError(HeadraceError, ValueError):
    """A record that does not fit.

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
        Type of the column.
    text
        The field, or the record where it is at fault.
    source
        Where several files are read: the path of the one at fault.
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
        fault = _MEANINGS[kind].format(expected=expected, text=repr(shown))
        way_on = "pass names= and header=False to read on without it" if record == 0 else _WAYS.get(kind, _GO_ON)
        file = "" if source is None else f"{source}: "
        super().__init__(f"{file}{where}: {fault}; {way_on}")

    def __reduce__(self) -> tuple[object, ...]:
        return _remake, (self._fields(),)

    def _fields(self) -> dict[str, object]:
        names = ("record", "line", "byte", "column", "kind", "expected", "text", "source")
        return {name: getattr(self, name) for name in names}

    def in_source(self, source: str) -> ParseError:
        """The same error, of one file among several."""
        return _remake(self._fields() | {"source": source})


def _remake(fields: dict[str, object]) -> ParseError:
    return ParseError(**fields)  # type: ignore[arg-type]
