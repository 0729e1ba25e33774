"""Offers the search for lines that `headrace grep` prints."""

from __future__ import annotations

import os

from headrace.query.lines.lines import BLOCK_BYTES, FEW_BYTES, LineOutput, LineSearch, blocks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from headrace.query.lines.line_expression import LineExpression

__all__ = ["BLOCK_BYTES", "FEW_BYTES", "LineOutput", "LineSearch", "blocks_of", "expression_of", "paths_of"]


def paths_of(file: str) -> Iterator[Any]:
    """Yield the files that a path or a pattern names. Raise NoMatchError if no file matches the pattern."""
    if os.path.isfile(file):
        yield file
        return
    from headrace.sources.find_files import list_sources  # takes time to import, and a plain file does not need it

    yield from list_sources(file, glob=True, hive=False) or [file]


def expression_of(patterns: Any, *, ignore_case: bool, is_literal: bool = False, edges: str = "") -> LineExpression:
    """Return regular expressions, prepared to select lines; the arguments are those of `LineExpression`.

    Raise OptionError if an expression is malformed, not in the subset, or needs too many nodes.
    """
    from headrace.query.lines.line_expression import LineExpression  # takes time to import

    return LineExpression(patterns, ignore_case=ignore_case, is_literal=is_literal, edges=edges)
