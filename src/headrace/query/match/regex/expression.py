"""Reads regular expressions: their characters and syntax trees."""

from __future__ import annotations

from headrace.query.find.pattern.pattern import contiguous_bytes
from headrace.query.match.regex.parse import parse
from headrace.query.match.regex.prefix_tree import prefix_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headrace.query.match.regex.syntax import Node


def syntax_of(pattern: Any, *, ignore_case: bool = False) -> tuple[Node, bool]:
    """Return the syntax tree of a valid expression, and whether its characters are those of Unicode."""
    text, is_text = characters_of(pattern)
    return parse(text, is_text=is_text, ignore_case=ignore_case), is_text


def literal_syntax(patterns: list[Any], *, ignore_case: bool = False) -> tuple[Node, bool]:
    """Return the syntax tree of texts without special characters, and whether their characters are those of Unicode."""
    texts = [characters_of(pattern) for pattern in patterns]
    return prefix_tree([text for text, _ in texts], ignore_case=ignore_case), texts[0][1]


def characters_of(pattern: Any) -> tuple[str, bool]:
    """Return the characters of an expression, and whether they are those of Unicode."""
    if isinstance(pattern, str):
        return pattern, True
    return contiguous_bytes(pattern, "pattern", "a regular expression as str or bytes").decode("latin-1"), False
