"""Extracts the prose of a file: sentences of docstrings, comments and Markdown, each with its line."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from checks.tree import NATIVE, parsed, statements


class Sentence(NamedTuple):
    """One sentence; `line` is where its paragraph begins."""

    line: int
    text: str

    @property
    def word_count(self) -> int:
        """Words with a letter in them; code in backticks counts as one."""
        return sum(1 for word in _CODE.sub("code", self.text).split() if _LETTER.search(word))


class Paragraph(NamedTuple):
    """Text without line breaks; `line` is its first line, `opens` whether a docstring begins with it."""

    line: int
    text: str
    opens: bool = False


_CODE = re.compile(r"``[^`]+``|`[^`]+`")
_LETTER = re.compile(r"[A-Za-z]")
_END = re.compile(r"(?<=[.!?:;])\s+(?=[\"'(`*\[]*[A-Z0-9`])|(?<=[.!?])$")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|Fig|et al|approx|no)\.$")
_NO_PROSE = re.compile(r"^\s*(>>>|\.\.\.|\||#|[-=~]{3,}|\[[^\]]+\]:|<)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_STRING_OR_COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*''', re.DOTALL
)
"""A string of Python, so that a ``#`` in it begins no comment, or a comment."""
_DIRECTIVE = re.compile(r"^\s*(noqa|type:|pragma|NOLINT|clang-format|ruff|fmt:)")


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a file in order."""
    for paragraph in paragraphs(path):
        for text in _split(paragraph.text):
            yield Sentence(paragraph.line, text)


def paragraphs(path: Path) -> tuple[Paragraph, ...]:
    """Return the paragraphs of a file's prose in order."""
    return _paragraphs(path.read_text(encoding="utf-8"), path.suffix)


@functools.cache  # several rules read each file
def _paragraphs(text: str, suffix: str) -> tuple[Paragraph, ...]:
    if suffix == ".md":
        return tuple(_blocks(enumerate(_without_fences(text.splitlines()), 1)))
    if suffix in {".py", ".pyi"}:
        return (*_docstrings(text), *_python_comments(text))
    return tuple(_native_comments(text)) if suffix in NATIVE else ()


def _split(text: str) -> Iterator[str]:
    """Split at sentence ends; abbreviations end none.

    Examples
    --------
    >>> list(_split("Reads tiles, e.g. Ten. Writes them."))
    ['Reads tiles, e.g. Ten.', 'Writes them.']
    """
    begin = 0
    for end in _END.finditer(text):
        part = text[begin : end.start()]
        if part.strip() and not _ABBREVIATION.search(part):
            yield part.strip()
            begin = end.end()
    if text[begin:].strip():
        yield text[begin:].strip()


def _blocks(lines: Iterator[tuple[int, str]] | enumerate[str], *, opens: bool = False) -> Iterator[Paragraph]:
    """Join lines to paragraphs, which end at an empty line, a list item or a line that is no prose."""
    first, held = 0, list[str]()
    for number, line in lines:
        is_prose = bool(line.strip()) and not _NO_PROSE.match(line)
        if held and (not is_prose or _LIST_ITEM.match(line)):
            yield Paragraph(first, " ".join(held), opens)
            held, opens = [], False
        if is_prose:
            first = first if held else number
            held.append(_LIST_ITEM.sub("", line).strip())
    if held:
        yield Paragraph(first, " ".join(held), opens)


def _without_fences(lines: list[str]) -> Iterator[str]:
    fenced = False
    for line in lines:
        is_fence = line.lstrip().startswith("```")
        yield "" if fenced or is_fence else line
        fenced ^= is_fence


def _docstrings(text: str) -> Iterator[Paragraph]:
    for statement in statements(parsed(text)):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            value = statement.value.value
            if isinstance(value, str):
                yield from _blocks(enumerate(_prose_of(value), statement.lineno), opens=True)


def _prose_of(docstring: str) -> Iterator[str]:
    """Lines of a docstring, with headings of sections, names of parameters and examples blanked."""
    lines = docstring.splitlines()
    in_examples = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        is_heading = bool(line.strip()) and set(following.strip()) == {"-"}
        if is_heading:
            in_examples = line.strip() == "Examples"
        is_name = re.fullmatch(r"\s*[\w*.]+(, [\w*.]+)*( : .*)?", line) is not None and following.startswith("     ")
        yield "" if is_heading or is_name or in_examples else line


def _python_comments(text: str) -> Iterator[Paragraph]:
    comments, line, begin = [], 1, 0
    for found in _STRING_OR_COMMENT.finditer(text):
        if found[0].startswith("#"):
            line, begin = line + text.count("\n", begin, found.start()), found.start()
            alone = not text[text.rfind("\n", 0, begin) + 1 : begin].strip()
            comments.append((line, found[0].lstrip("#").strip(), alone))
    yield from _runs(comments)


def _native_comments(text: str) -> Iterator[Paragraph]:
    comments = []
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(r'(?:^|[^:"\'])//+(?!/)\s?(.*)$', line)
        if found and line.count('"', 0, found.start(1)) % 2 == 0:
            comments.append((number, found.group(1).strip(), line.strip().startswith("//")))
    yield from _runs(comments)


def _runs(comments: list[tuple[int, str, bool]]) -> Iterator[Paragraph]:
    """Join comments on lines of their own that follow each other; a comment after code stands for itself."""
    run: list[tuple[int, str]] = []
    for number, text, alone in comments:
        if _DIRECTIVE.match(text):
            continue
        if not alone:
            yield Paragraph(number, text)
        elif run and run[-1][0] + 1 == number:
            run.append((number, text))
        else:
            yield from _blocks(iter(run))
            run = [(number, text)]
    yield from _blocks(iter(run))
