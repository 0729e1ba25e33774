"""Recognises files of formats other than text by their first bytes, so that they are not read as text."""

from __future__ import annotations

from headrace.core.errors import SourceError

_FOREIGN = {
    b"PK\x05\x06": "a zip archive without a file",
    b"PAR1\x15": "Parquet; read it with a reader of Parquet",
}
"""First bytes of files that are not text, and their descriptions in messages."""
FOREIGN_MARKS = tuple(_FOREIGN)
"""First bytes of files that are not text."""


def check_is_text(start: bytes, name: str) -> None:
    """Raise if bytes that begin with `start` are a known format other than text.

    Raises
    ------
    SourceError
        They are.
    """
    if start.startswith(FOREIGN_MARKS):
        what = next(what for mark, what in _FOREIGN.items() if start.startswith(mark))
        raise SourceError(f"{name} is {what}")
