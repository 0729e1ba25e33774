"""Prints the lines of files in which a pattern of bytes occurs: `headrace grep`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from headrace import Pattern, find
from headrace.api.line_search import LineSelector, ShownLine, blocks_of, paths_of
from headrace.cli.common import options
from headrace.core.errors import OptionError

_EPILOG = """\
exit codes:
  0    a line was selected
  1    no line was selected
  2    error in the command
  3    a file cannot be read
"""


def add_parser(commands: Any, _epilog: str) -> None:
    """Add `grep` to argparse's `commands`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "grep",
        help="print lines in which a text occurs",
        description="Print the lines in which a text occurs. It is searched for as it is given; it is no regular expression. "
        "Files may be compressed and of any size.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("pattern", metavar="PATTERN", help="the text")
    options.add_files(parser)
    parser.add_argument("-i", "--ignore-case", action="store_true", help="ASCII letters match in either case")
    parser.add_argument("-v", "--invert-match", action="store_true", help="select lines without the text")
    parser.add_argument("-n", "--line-number", action="store_true", help="print the number of each line")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("-c", "--count", action="store_true", help="print the number of selected lines of each file")
    only.add_argument("-l", "--files-with-matches", action="store_true", help="print the names of files with selected lines")
    only.add_argument("-o", "--only-matching", action="store_true", help="print each occurrence on a line of its own")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="mark occurrences (auto: in terminals)"
    )
    parser.add_argument("-A", "--after-context", metavar="N", type=int, default=0, help="print N lines after each selected one")
    parser.add_argument("-B", "--before-context", metavar="N", type=int, default=0, help="print N lines before each selected one")


def run(given: argparse.Namespace) -> int:
    """Search, print, and return 0 if a line was selected, otherwise 1."""
    pattern = Pattern(os.fsencode(given.pattern), ignore_case=given.ignore_case)
    if b"\n" in pattern.pattern:
        raise OptionError("PATTERN has a line feed, and a line has none")
    if given.before_context < 0 or given.after_context < 0:
        raise OptionError("-A and -B must be 0 or more")
    files = list(_files(given.file))
    printer = _Printer(sys.stdout.buffer, given, prefixes=len(files) > 1)
    found = False
    for name, source in files:
        selector = LineSelector(pattern, given.invert_match, given.before_context, given.after_context)
        found |= printer.file(name, source, selector)
    return 0 if found else 1


def _files(given: list[str]) -> Iterator[tuple[bytes, Any]]:
    """Yield the name and the source of each file."""
    for file in given:
        if file == options.STDIN:
            yield b"(standard input)", options.source_of([file])
        else:
            for path in paths_of(file):
                yield os.fsencode(str(path)), path


class _Printer:
    """Prints what the options ask for.

    Parameters
    ----------
    out
        Binary output.
    given
        The parsed arguments.
    prefixes
        Whether lines begin with the name of their file.
    """

    def __init__(self, out: BinaryIO, given: argparse.Namespace, *, prefixes: bool) -> None:
        self._out, self._given, self._prefixes = out, given, prefixes
        self._marks = given.color == "always" or (given.color == "auto" and out.isatty())
        self._has_groups = not given.only_matching and (given.before_context or given.after_context)
        self._has_printed = False

    def file(self, name: bytes, source: Any, selector: LineSelector) -> bool:
        """Print the lines of a file, and return whether one was selected."""
        if self._given.count or self._given.files_with_matches:
            return self._count(name, source, selector)
        found, last = False, 0
        for block in blocks_of(source):
            for line in self._lines(block, selector):
                if self._has_groups and self._has_printed and line.number != last + 1:
                    self._out.write(b"--\n")
                marks = self._marks and line.is_selected and not selector.is_inverted
                self._write(name, line._replace(text=_marked(line.text, selector.pattern)) if marks else line)
                self._has_printed, last = True, line.number
                found |= line.is_selected
        return found

    def _lines(self, block: memoryview, selector: LineSelector) -> Iterator[ShownLine]:
        if not self._given.only_matching:
            return selector.lines(block)
        return iter(()) if selector.is_inverted else selector.matches(block)

    def _count(self, name: bytes, source: Any, selector: LineSelector) -> bool:
        total = 0
        for block in blocks_of(source):
            total += selector.count(block)
            if total and self._given.files_with_matches:
                self._out.write(name + b"\n")
                return True
        if self._given.count:
            self._out.write((name + b":" if self._prefixes else b"") + b"%d\n" % total)
        return total > 0

    def _write(self, name: bytes, line: ShownLine) -> None:
        mark = b":" if line.is_selected else b"-"
        start = name + mark if self._prefixes else b""
        if self._given.line_number:
            start += b"%d" % line.number + mark
        self._out.write(start + line.text + b"\n")


def _marked(text: bytes, pattern: Pattern) -> bytes:
    """Return a line with its hits in bold red, as terminals show them."""
    parts, at = [], 0
    for hit in find(text, pattern, overlapping=False).tolist():
        end = hit + len(pattern)
        parts += [text[at:hit], b"\x1b[1;31m", text[hit:end], b"\x1b[m"]
        at = end
    return b"".join([*parts, text[at:]])
