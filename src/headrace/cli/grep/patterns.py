"""Prepares the patterns of `headrace grep`."""

from __future__ import annotations

import os
import sys

from headrace import Pattern
from headrace.api.line_search import expression_of
from headrace.core.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def wanted_of(given: Any) -> tuple[Any, list[str]]:
    """Return the pattern, or the expression, that a `LineSearch` takes, and the words that are files.

    Raise OptionError if there is no pattern, one is malformed, or options contradict each other.
    """
    words = list(given.words)
    if given.extended_regexp and given.fixed_strings:
        raise OptionError("-E and -F are both given; pass one of them")
    if not (given.regexp or given.file or words):
        raise OptionError("PATTERN is missing")
    texts = [os.fsencode(text) for text in given.regexp or ([] if given.file else [words.pop(0)])]
    patterns = [line for text in texts for line in text.split(b"\n")]
    for name in given.file:
        patterns += _lines_of(name)
    edges = "line" if given.line_regexp else "word" if given.word_regexp else ""
    if not given.extended_regexp and not edges and len(patterns) == 1 and patterns[0]:
        return Pattern(patterns[0], ignore_case=given.ignore_case), words
    is_literal = not given.extended_regexp
    return expression_of(_decoded(patterns), ignore_case=given.ignore_case, is_literal=is_literal, edges=edges), words


def _decoded(patterns: list[bytes]) -> list[Any]:
    """Return patterns as str, or as bytes if one is not in UTF-8."""
    try:
        return [pattern.decode() for pattern in dict.fromkeys(patterns)]
    except UnicodeDecodeError:
        return list(patterns)


def _lines_of(name: str) -> list[bytes]:
    try:
        if name == "-":
            content = sys.stdin.buffer.read() if sys.stdin is not None else b""
        else:
            with open(name, "rb") as file:
                content = file.read()
    except OSError as error:
        raise OptionError(f"-f {name!r}: {error.strerror}") from None
    return content.removesuffix(b"\n").split(b"\n") if content else []
