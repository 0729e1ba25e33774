"""Prints the lines of files in which a text occurs or a regular expression matches: `headrace grep`."""

from __future__ import annotations

import os
import sys

from headrace import Pattern
from headrace.api.line_search import LineOutput, LineSearch, blocks_of, expression_of, paths_of
from headrace.cli.common.messages import message_of, print_error
from headrace.cli.grep import arguments
from headrace.core.errors import HeadraceError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    _Item = TypeVar("_Item")

_STDIN = "-"
_EPILOG = """\
exit codes:
  0    a line was selected, and no error occurred
  1    no line was selected, and no error occurred
  2    an error occurred: in the command, or a file cannot be read (the others are searched)
"""


def parsed(words: Sequence[str]) -> Any:
    """Return the arguments; None if argparse has to parse the words, to report an error or to print help."""
    given: Any = arguments.parsed(words)
    if given is not None:
        given.run = run
    return given


def add_parser(commands: Any, _epilog: str) -> None:
    """Add `grep` to argparse's `commands`."""
    import argparse  # takes time to import

    from headrace.cli.common import options

    parser: argparse.ArgumentParser = commands.add_parser(
        "grep",
        help="print lines in which a text occurs, or a regular expression matches",
        description="Print the lines in which a text occurs, or with -E the lines that a regular expression matches. "
        "Files may be compressed and of any size.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("pattern", metavar="PATTERN", help="the text, or the expression")
    options.add_files(parser)
    arguments.add_options(parser)


def run(given: Any) -> int:
    """Search, print, and return 0 if a line was selected, otherwise 1; 2 if a file could not be read."""
    if "\n" in given.pattern:
        raise OptionError("PATTERN has a line feed, and a line has none")
    if given.before_context < 0 or given.after_context < 0:
        raise OptionError("-A and -B must be 0 or more")
    mark, unmark = (b"\x1b[1;31m", b"\x1b[m") if _has_marks(given.color) else (b"", b"")
    wanted = _wanted(given)
    errors = _FileErrors()
    files = [file for name in given.file for file in errors.reported(_files(name))]
    prefixes = len(files) > 1 or len(given.file) > 1
    search = _Search(wanted, _output(given, mark, unmark), errors, prefixes=prefixes)
    found = False
    for name, source in files:
        if given.count or given.files_with_matches:
            found |= search.count(name, source, only_names=given.files_with_matches)
        else:
            found |= search.write(name, source)
    return 2 if errors.count else 0 if found else 1


def _wanted(given: Any) -> Any:
    """Return the pattern, or the expression, that a `LineSearch` takes."""
    if not given.extended_regexp:
        return Pattern(os.fsencode(given.pattern), ignore_case=given.ignore_case)
    pattern = os.fsencode(given.pattern)
    try:
        text: str | bytes = pattern.decode()
    except UnicodeDecodeError:  # an expression of bytes
        text = pattern
    return expression_of(text, ignore_case=given.ignore_case)


def _has_marks(color: str) -> bool:
    return color == "always" or (color == "auto" and sys.stdout.buffer.isatty())


def _output(given: Any, mark: bytes, unmark: bytes) -> LineOutput:
    return LineOutput(
        is_inverted=given.invert_match,
        only_matching=given.only_matching,
        is_numbered=given.line_number,
        before=min(given.before_context, sys.maxsize),
        after=min(given.after_context, sys.maxsize),
        mark=mark,
        unmark=unmark,
    )


def _files(given: str) -> Iterator[tuple[bytes, Any]]:
    """Yield the name and the source of each file that an argument names."""
    if given == _STDIN:
        from headrace.cli.common import options  # takes time to import

        yield b"(standard input)", options.source_of([given])
    else:
        for path in paths_of(given):
            yield os.fsencode(str(path)), path


class _FileErrors:
    """Prints and counts the errors of files that cannot be read, so that the search continues with the next file."""

    def __init__(self) -> None:
        self.count = 0

    def reported(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield items up to the first error, which is printed. Errors of the code between two items are not caught."""
        try:
            yield from items
        except (HeadraceError, OSError, MemoryError) as error:
            self.count += 1
            sys.stdout.flush()
            print_error(message_of(error))


class _Search:
    """Searches files and prints what the options ask for.

    Parameters
    ----------
    wanted
        The pattern, or the expression.
    output
        The lines to print, without the name of a file.
    errors
        Errors of the files.
    prefixes
        Whether lines begin with the name of their file.
    """

    def __init__(self, wanted: Any, output: LineOutput, errors: _FileErrors, *, prefixes: bool) -> None:
        self._wanted, self._output, self._errors, self._prefixes = wanted, output, errors, prefixes
        self._has_written = False

    def write(self, name: bytes, source: Any) -> bool:
        """Print the lines of a file, and return whether one was selected."""
        output = self._output.with_name(name) if self._prefixes else self._output
        search = LineSearch(self._wanted, output, has_written=self._has_written)
        for block in self._errors.reported(blocks_of(source)):
            self._print(search.write(block))
        self._has_written = search.has_written
        return search.has_selected

    def count(self, name: bytes, source: Any, *, only_names: bool) -> bool:
        """Print the number of selected lines of a file, or its name if there are any; return whether there are.

        A file that cannot be read to its end has no number.
        """
        search, total = LineSearch(self._wanted, self._output), 0
        earlier = self._errors.count
        for block in self._errors.reported(blocks_of(source)):
            total += search.count(block)
            if total and only_names:
                self._print(name + b"\n")
                return True
        if not only_names and self._errors.count == earlier:
            self._print((name + b":" if self._prefixes else b"") + b"%d\n" % total)
        return total > 0

    def _print(self, lines: bytes) -> None:
        left = memoryview(lines)
        while left:  # standard output without a buffer (PYTHONUNBUFFERED) takes a part
            left = left[sys.stdout.buffer.write(left) :]
