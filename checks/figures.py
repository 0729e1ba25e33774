"""Figures of README.md and other pages are those of the result files that they name.

Between ``<!-- figures: NAME -->`` and ``<!-- end -->`` stands what `bench.readme` prints from bench/results. In a section with
such a block, no measured figure stands outside of one, where nothing would compare it. After ``<!-- from: FILE FILE -->`` stands
a table whose numbers all occur in one of those results, rounded as the table has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bench.readme import BLOCK, stale
from checks.docs_run import pages
from checks.tree import Finding, name_of

_MEASURED = re.compile(r"\d[\d.,]* ?(?:[GM]B/s|G/s|G keys/s|Gkeys/s|times\b|ms\b|us\b|µs)")
_HEADING = re.compile(r"^(?=## )", re.MULTILINE)
_FROM = re.compile(r"^<!-- from: ([^>]*?) -->\n+((?:\|.*\n?)*)", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d(?:[\d,_]*\d)?(?:\.\d+)?(?![\w])")
_HEAD_LINES = 2
"""Lines at the head of a table, whose numbers are names."""


def check(root: Path) -> list[Finding]:
    found = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        messages = [*stale(text, root, page), *_loose(text), *_not_from(text, page.parent)]
        found += [Finding(name_of(page, root), line, message) for line, message in sorted(messages)]
    return found


def _loose(text: str) -> Iterator[tuple[int, str]]:
    """Lines with measured figures outside of blocks, in sections that have blocks."""
    first = 1
    for section in _HEADING.split(text):
        if BLOCK.search(section):
            blanked = BLOCK.sub(lambda match: "\n" * match[0].count("\n"), section)
            for number, line in enumerate(blanked.splitlines(), first):
                if figure := _MEASURED.search(line):
                    yield number, f"{figure[0]!r} is compared with no result: take it out, or into a block of figures"
        first += section.count("\n")


def _not_from(text: str, folder: Path) -> Iterator[tuple[int, str]]:
    """Numbers of tables that are not in the results named before the table."""
    for match in _FROM.finditer(text):
        first = text.count("\n", 0, match.start(2)) + 1
        files = [folder / name for name in match[1].split()]
        gone = [path.name for path in files if not path.is_file()]
        if gone or not match[2]:
            yield first - 1, f"no result {', '.join(gone)}" if gone else "no table follows the names of its results"
            continue
        known = [float(number) for path in files for number in _numbers(path.read_text(encoding="utf-8"))]
        for number, line in enumerate(match[2].splitlines()[_HEAD_LINES:], first + _HEAD_LINES):
            _, _, cells = line.strip("|").partition("|")
            for figure in _numbers(cells):
                digits = len(figure.partition(".")[2])
                if all(round(value, digits) != float(figure) for value in known):
                    yield number, f"{figure} is not in {', '.join(path.name for path in files)}"


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text, without the marks that group their digits.

    Examples
    --------
    >>> _numbers("| u64, 1_024 keys | 2,048 (0.5) | 3.25 |")
    ['1024', '2048', '0.5', '3.25']
    """
    return [number.replace(",", "").replace("_", "") for number in _NUMBER.findall(text)]
