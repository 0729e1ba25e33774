"""Builds the syntax tree of many texts, in which texts share their first characters.

A state of an automaton then has few nodes for any number of texts: those that continue the characters before. Without sharing,
each state has the first node of each text.
"""

from __future__ import annotations

from headrace.query.match.regex.syntax import Alternatives, Characters, Sequence, both_cases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headrace.query.match.regex.syntax import Node

_MAX_DEPTH = 64  # of nested alternatives; the texts that are left do not share characters


def prefix_tree(texts: list[str], *, ignore_case: bool) -> Node:
    """Return the tree that matches each of the texts and no other one.

    `ignore_case`: whether ASCII letters match in either case.
    """
    folded = {_folded(text) for text in texts} if ignore_case else set(texts)
    return _tree(sorted(folded), 0, 0, ignore_case=ignore_case)


def _folded(text: str) -> str:
    return "".join(chr(ord(each) | 32) if "A" <= each <= "Z" else each for each in text)


def _tree(texts: list[str], begin: int, depth: int, *, ignore_case: bool) -> Node:
    """Return the tree of ascending texts, which are equal up to character `begin`, without those characters."""
    first, last = texts[0], texts[-1]
    if len(texts) == 1:
        return _characters(first[begin:], ignore_case=ignore_case)
    if depth == _MAX_DEPTH:
        return Alternatives(tuple(_characters(text[begin:], ignore_case=ignore_case) for text in texts))
    end = begin
    while end < len(first) and first[end] == last[end]:
        end += 1
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(text[end : end + 1], []).append(text)
    parts = tuple(_tree(group, end, depth + 1, ignore_case=ignore_case) for group in groups.values())
    return Sequence((*_characters(first[begin:end], ignore_case=ignore_case).parts, Alternatives(parts)))


def _characters(text: str, *, ignore_case: bool) -> Sequence:
    sets = [((ord(each), ord(each)),) for each in text]
    return Sequence(tuple(Characters(both_cases(each) if ignore_case else each) for each in sets))
