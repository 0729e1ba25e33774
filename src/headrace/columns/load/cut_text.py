"""Where a text may be cut between two records, guessed from a few KB in front of the cut.

The last bytes of a part are searched for records twice, as if they began outside quotes and inside: of the two, that with fewer
malformed quotes is taken to be true (speculation on the context, as Ge, Li, Eilebrecht, Chandramouli and Kossmann, "Speculative
distributed CSV data parsing", SIGMOD 2019, do it). Who loads the part finds out whether it was, since a part that ends inside a
record says so; then the other guess, and at last a later end, are tried.
"""

from __future__ import annotations

from headrace import _native
from headrace.core.context import Context
from headrace.sources.open import OpenSource
from headrace.structure.dialect import Dialect
from headrace.structure.find import find_structure

_LOOK_BYTES = 16 << 10
_ONE_THREAD = Context(threads=1)


def cuts(source: OpenSource, dialect: Dialect, begin: int, end: int) -> list[int]:
    """Where the last record begins of the text from `begin` to `end`, likeliest first; nothing where none begins behind `begin`.

    Examples
    --------
    >>> from headrace.sources.open import open_source
    >>> from headrace.structure.dialect import CSV
    >>> with open_source(b'a,b\\n1,"x\\ny"\\n2,z\\n3') as source:
    ...     cuts(source, CSV, 0, 18), cuts(source, CSV, 0, 10)
    ([16], [4])
    """
    size = _LOOK_BYTES
    while True:
        first = max(end - size, begin)
        found = _guesses(source.native.read(first, end - first), dialect, is_start=first == begin)
        places = list(dict.fromkeys(first + at for at in found if first + at > begin))
        if places or first == begin:
            return places
        size *= 8


def _guesses(text: bytes, dialect: Dialect, *, is_start: bool) -> list[int]:
    outside = _last_record(text, dialect)
    if is_start or dialect.quote is None or dialect.quote not in text:
        return [at for _, at in (outside,) if at]
    strays, at = _last_record(dialect.quote + text, dialect)
    guesses = [outside, (strays, at - len(dialect.quote))]
    return [at for _, at in sorted(guesses, key=lambda guess: guess[0]) if at > 0]


def _last_record(text: bytes, dialect: Dialect) -> tuple[int, int]:
    """Malformed quotes of a text, and where its last record begins; 0 if it has only the one that begins it."""
    found = find_structure(OpenSource(_native.Source.from_bytes(text), ""), dialect, context=_ONE_THREAD)
    starts = found.record_starts
    return len(found.strays), starts[-1] if len(starts) > 1 else 0
