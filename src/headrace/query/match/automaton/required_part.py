"""Keeps a part that each match of an automaton has, so that searches for it can skip most of a text."""

from __future__ import annotations

from headrace import _native
from headrace.query.find.pattern.pattern import Pattern


class RequiredPart:
    """A literal, or windows of bytes one of which is in each match; neither if none is rare enough.

    `literal`: bytes that are in each match; empty for none.
    `ignore_case`: whether letters of the literal match in either case.
    `windows`: tables of the windows, as in `Windows`; none if there is a literal.
    `has_lead`, `has_tail`: as in `Windows`.
    `reach`: maximum number of bytes of a match before the literal or the window, None for any number.
    """

    __slots__ = ("has_lead", "has_tail", "ignore_case", "literal", "reach", "windows")

    def __init__(
        self,
        literal: bytes = b"",
        ignore_case: bool = False,
        *,
        windows: list[bytes],
        has_lead: bool = False,
        has_tail: bool = False,
        reach: int | None = None,
    ) -> None:
        self.literal, self.ignore_case = literal, ignore_case
        self.windows, self.has_lead, self.has_tail = windows, has_lead, has_tail
        self.reach = reach

    def native(self) -> tuple[_native.FindPattern | None, _native.LineWindows | None]:
        """Return the native form of the literal and of the windows."""
        pattern = Pattern(self.literal, ignore_case=self.ignore_case).native if self.literal else None
        return pattern, _native.LineWindows(self.windows, self.has_lead, self.has_tail) if self.windows else None
