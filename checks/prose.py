"""Prose is plain technical English (docs/style.md): short sentences, standard terms, docstrings that begin with a verb.

Each rule counts its findings over the tree. `checks/ratchet.json` has the highest count that is allowed: it may only fall.
``python -m checks --ratchet`` prints today's counts, and writes those that fell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from checks.ratchet import Rule, check_rules
from checks.sentences import paragraphs, sentences
from checks.tree import NATIVE, Finding, files, name_of

MAX_WORDS = 25
MAX_COLUMNS = 100
PROSE = (".py", ".pyi", ".md", *NATIVE)

# Words that this project's prose used in a private sense: docs/style.md has the words to use instead.
_BANNED = re.compile(
    r"\b(?:nobody|somebody|whoever|anybody|everybody|so many|so far|but for|told|tells?|telling|comes? to|behind|in front of"
    r"|settle[sd]?|settling|meets?)\b",
    re.IGNORECASE,
)
_OPENER = re.compile(r"(?:What|Where|Which|Whether|Of|By|As|How)\b")


def check(root: Path) -> list[Finding]:
    return check_rules(root, RULES)


def _texts(root: Path) -> Iterator[Path]:
    """Yield files whose prose the rules cover: no results of benchmarks, which are tables, and no data."""
    for path in files(root, *PROSE):
        if "results" not in path.parts and path.name != "LICENSE":
            yield path


def long_sentences(root: Path) -> Iterator[Finding]:
    """Yield sentences of more than `MAX_WORDS` words."""
    for path in _texts(root):
        for sentence in sentences(path):
            if (count := sentence.word_count) > MAX_WORDS:
                yield Finding(name_of(path, root), sentence.line, f"{count} words in a sentence, {MAX_WORDS} at most")


def banned_words(root: Path) -> Iterator[Finding]:
    """Yield uses of words that docs/style.md replaces."""
    for path in _texts(root):
        if path.name == "style.md" or path.parent.name == "checks":
            continue
        for paragraph in paragraphs(path):
            for found in _BANNED.finditer(paragraph.text):
                yield Finding(name_of(path, root), paragraph.line, f"{found.group()!r}: docs/style.md has a plainer word")


def docstring_openers(root: Path) -> Iterator[Finding]:
    """Yield docstrings that begin with a clause instead of a verb or a noun."""
    for path in files(root, ".py", ".pyi", under="src"):
        for paragraph in paragraphs(path):
            if paragraph.opens and (found := _OPENER.match(paragraph.text)):
                yield Finding(name_of(path, root), paragraph.line, f"a docstring begins with {found.group()!r}")


def wide_lines(root: Path) -> Iterator[Finding]:
    """Yield lines of Markdown of more than `MAX_COLUMNS` characters; tables, links, code and generated lines may be wider."""
    for path in files(root, ".md"):
        if "results" in path.parts:
            continue
        fenced = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= line.lstrip().startswith("```")
            if len(line) > MAX_COLUMNS and not (fenced or line.lstrip().startswith(("|", "<", "[", "Results: ["))):
                yield Finding(name_of(path, root), number, f"{len(line)} characters, {MAX_COLUMNS} at most")


RULES = (
    Rule("sentences of more than 25 words", long_sentences),
    Rule("banned words", banned_words),
    Rule("docstrings that begin with a clause", docstring_openers),
    Rule("Markdown lines over 100 characters", wide_lines),
)
