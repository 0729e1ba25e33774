"""Prints the lines of files in which a pattern of bytes occurs: `headrace grep`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from headrace import Pattern
from headrace.api.line_search import LineOutput, LineSearch, blocks_of, paths_of
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
    mark, unmark = (b"\x1b[1;31m", b"\x1b[m") if _has_marks(given.color) else (b"", b"")
    search = _Search(pattern, _output(given, mark, unmark), sys.stdout.buffer, prefixes=len(files) > 1)
    found = False
    for name, source in files:
        if given.count or given.files_with_matches:
            found |= search.count(name, source, only_names=given.files_with_matches)
        else:
            found |= search.write(name, source)
    return 0 if found else 1


def _has_marks(color: str) -> bool:
    return color == "always" or (color == "auto" and sys.stdout.buffer.isatty())


def _output(given: argparse.Namespace, mark: bytes, unmark: bytes) -> LineOutput:
    return LineOutput(
        given.invert_match,
        given.only_matching,
        given.line_number,
        min(given.before_context, sys.maxsize),
        min(given.after_context, sys.maxsize),
        mark=mark,
        unmark=unmark,
    )


def _files(given: list[str]) -> Iterator[tuple[bytes, Any]]:
    """Yield the name and the source of each file."""
    for file in given:
        if file == options.STDIN:
            yield b"(standard input)", options.source_of([file])
        else:
            for path in paths_of(file):
                yield os.fsencode(str(path)), path


class _Search:
    """Searches files and prints what the options ask for.

    Parameters
    ----------
    pattern
        The pattern.
    output
        The lines to print, without the name of a file.
    out
        Binary output.
    prefixes
        Whether lines begin with the name of their file.
    """

    def __init__(self, pattern: Pattern, output: LineOutput, out: BinaryIO, *, prefixes: bool) -> None:
        self._pattern, self._output, self._out, self._prefixes = pattern, output, out, prefixes
        self._has_written = False

    def write(self, name: bytes, source: Any) -> bool:
        """Print the lines of a file, and return whether one was selected."""
        output = replace(self._output, name=name) if self._prefixes else self._output
        search = LineSearch(self._pattern, output, has_written=self._has_written)
        for block in blocks_of(source):
            self._out.write(search.write(block))
        self._has_written = search.has_written
        return search.has_selected

    def count(self, name: bytes, source: Any, *, only_names: bool) -> bool:
        """Print the number of selected lines of a file, or its name if there are any; return whether there are."""
        search, total = LineSearch(self._pattern, self._output), 0
        for block in blocks_of(source):
            total += search.count(block)
            if total and only_names:
                self._out.write(name + b"\n")
                return True
        if not only_names:
            self._out.write((name + b":" if self._prefixes else b"") + b"%d\n" % total)
        return total > 0
