"""Defines a condition on the bytes of records, by which a scan chooses records before they are parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from headrace import _native
from headrace.core.errors import OptionError
from headrace.query.find.pattern.pattern import Pattern, prepared
from headrace.query.find.pattern.pattern_set import PatternSet, prepared_set

FEW_PATTERNS = 8  # greatest number of patterns that are searched one after another, which takes less time than all at once


@dataclass(frozen=True, slots=True)
class RecordCondition:
    """A condition on the bytes of a record; made by `record_contains`. ``~condition`` is true where it is not."""

    patterns: Pattern | PatternSet
    """The texts, one of which must occur."""
    is_inverted: bool = False
    """True if none of them may occur."""

    def __invert__(self) -> RecordCondition:
        return replace(self, is_inverted=not self.is_inverted)

    def __repr__(self) -> str:
        return f"{'~' if self.is_inverted else ''}record_contains({self.patterns!r})"

    @property
    def alternatives(self) -> Sequence[Pattern]:
        """Patterns without which a record is dropped; empty if there are many, or if they keep no record."""
        if self.is_inverted:
            return ()
        if isinstance(self.patterns, Pattern):
            return (self.patterns,)
        if len(self.patterns) > FEW_PATTERNS:
            return ()
        return [Pattern(one, ignore_case=self.patterns.ignore_case) for one in self.patterns.patterns]

    def native(self, isa: str) -> _native.RecordFilter:
        """Return the search."""
        few = replace(self, is_inverted=False).alternatives
        if few:
            return _native.RecordsWithPattern([one.native for one in few], self.is_inverted, isa)
        assert isinstance(self.patterns, PatternSet)
        return _native.RecordsWithAnyPattern(self.patterns.native, self.is_inverted)


def record_contains(*texts: Any, ignore_case: bool = False) -> RecordCondition:
    """Return the condition that a text occurs anywhere in the bytes of a record, for ``scan_csv(where=...)``.

    Parameters
    ----------
    *texts
        Texts, one of which must occur: str, which is encoded as UTF-8, or bytes-like. Or one `Pattern` or `PatternSet`. A text
        may contain separators and quotes. It may not reach beyond the record, so line ends occur in quoted fields only.
    ignore_case
        Whether ASCII letters match in either case.

    Raises
    ------
    OptionError
        There is no text, a text is empty, or an argument has another type.

    Examples
    --------
    >>> import headrace
    >>> log = b"level,text\\nerror,disk full\\ninfo,started\\nerror,no net\\n"
    >>> headrace.scan_csv(log, where=record_contains("error,")).read()["text"].to_pylist()
    ['disk full', 'no net']
    >>> headrace.scan_csv(log, where=~record_contains("disk", "net")).read()["text"].to_pylist()
    ['started']
    """
    if not texts:
        raise OptionError("record_contains() needs a text")
    for text in texts:
        if text is None or isinstance(text, (int, float)):
            raise OptionError(f"record_contains() takes texts, bytes, a Pattern or a PatternSet, not {text!r}")
        if isinstance(text, (str, bytes)) and not text:
            raise OptionError("record_contains(): a text or pattern is empty, and every record contains it")
    if len(texts) == 1 and not isinstance(texts[0], PatternSet):
        return RecordCondition(prepared(_bytes_of(texts[0]), ignore_case))
    several = texts[0] if len(texts) == 1 else [_bytes_of(text) for text in texts]
    return RecordCondition(prepared_set(several, ignore_case))


def _bytes_of(text: Any) -> Any:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
