"""Prints the lines of files in which a text occurs or a regular expression matches: `headrace grep`."""

from __future__ import annotations

import os
import sys
from itertools import chain, islice

from headrace.api.line_search import BLOCK_BYTES, FEW_BYTES, LineOutput, LineSearch, blocks_of
from headrace.cli.common.messages import message_of, print_error
from headrace.cli.grep import arguments
from headrace.cli.grep.files import files_of
from headrace.cli.grep.patterns import wanted_of
from headrace.core.errors import HeadraceError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    _Item = TypeVar("_Item")

_MIN_FILES, _MAX_FILES = 8, 1024  # files that are read ahead at once: few at first, so that the first lines appear early
_MAX_OUTPUT = 16 << 20  # Bytes of lines of files that are read at once. After more of them, fewer files are.
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

    parser: argparse.ArgumentParser = commands.add_parser(
        "grep",
        help="print lines in which a text occurs, or a regular expression matches",
        description="Print the lines in which a text occurs, or with -E the lines that a regular expression matches. "
        "Files may be compressed and of any size.",
        epilog=_EPILOG,
        usage="headrace grep [OPTION]... PATTERN [FILE]...",
        add_help=False,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "words",
        metavar="PATTERN [FILE]",
        nargs="*",
        help="the text or the expression, and files, or patterns such as 'logs/**/*.gz' (- for standard input, the default)",
    )
    parser.add_argument("--help", action="help", help="print this help")
    arguments.add_options(parser)


def run(given: Any) -> int:
    """Search, print, and return 0 if a line was selected, otherwise 1; 2 if a file could not be read."""
    wanted, names = wanted_of(given)
    output = _output(given)
    if output.max_count == 0 and not given.files_without_match:
        return 1
    given.words_are_files = bool(names)
    names = names or (["."] if given.recursive else ["-"])
    errors = _FileErrors(is_silent=given.no_messages)
    files = (file for name in names for file in errors.reported(files_of(name, given, errors.reported)))
    # A folder is listed during the search. Of a pattern of names, two files show that lines need the names.
    are_many = given.with_filename or len(names) > 1 or (given.recursive and os.path.isdir(names[0]))
    first = () if are_many else tuple(islice(files, 2))
    are_many = are_many or len(first) > 1
    lines = LineSearch(wanted, output, are_listed=given.recursive and all(map(os.path.isdir, names)))
    search = _Search(lines, output, errors, prefixes=are_many and not given.no_filename)
    every: Iterator[Any] = chain(first, files)
    if given.quiet:
        has_found = any(search.selects(source) for _, source in every)
        return 0 if has_found else 2 if errors.count else 1
    is_counted = given.count or given.files_with_matches or given.files_without_match
    has_found = False
    for name, source in search.read_ahead(every, is_counted=is_counted) if are_many else every:
        if given.files_with_matches or given.files_without_match:
            has_found |= search.print_name(name, source, is_wanted=not given.files_without_match)
        elif given.count:
            has_found |= search.count(name, source)
        else:
            has_found |= search.write(name, source)
    return 2 if errors.count else 0 if has_found else 1


def _output(given: Any) -> LineOutput:
    around = given.context or 0
    before, after = (around if one is None else one for one in (given.before_context, given.after_context))
    if min(before, after) < 0:
        raise OptionError("-A, -B and -C must be 0 or more")
    has_marks = given.color == "always" or (given.color == "auto" and sys.stdout.buffer.isatty())
    mark, unmark = (b"\x1b[1;31m", b"\x1b[m") if has_marks else (b"", b"")
    return LineOutput(
        is_inverted=given.invert_match,
        only_matching=given.only_matching,
        is_numbered=given.line_number,
        before=min(before, sys.maxsize),
        after=min(after, sys.maxsize),
        is_grouped=any(one is not None for one in (given.context, given.before_context, given.after_context)),
        max_count=None if given.max_count is None or given.max_count < 0 else min(given.max_count, sys.maxsize),
        mark=mark,
        unmark=unmark,
    )


class _FileErrors:
    """Prints and counts the errors of files that cannot be read, so that the search continues with the next file."""

    def __init__(self, *, is_silent: bool) -> None:
        self.count, self._is_silent = 0, is_silent

    def reported(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield items up to the first error, which is printed. Errors of the code between two items are not caught."""
        try:
            yield from items
        except (HeadraceError, OSError, MemoryError) as error:
            self.count += 1
            if not self._is_silent:
                sys.stdout.flush()
                print_error(message_of(error))


class _Search:
    """Searches files and prints lines, counts or names.

    `output`: the lines to print, without the name of a file.
    `prefixes`: whether lines begin with the name of their file.
    """

    def __init__(self, lines: LineSearch, output: LineOutput, errors: _FileErrors, *, prefixes: bool) -> None:
        self._search, self._max_count = lines, output.max_count
        # Lines of a file do not depend on earlier files, and each selected one is printed.
        self._is_alone = not (output.only_matching or output.is_grouped)
        self._errors, self._prefixes, self._is_terminal = errors, prefixes, sys.stdout.buffer.isatty()

    def read_ahead(self, files: Iterator[Any], *, is_counted: bool) -> Iterator[Any]:
        """Yield the files, each a name and a source. Several small ones are searched at once, which replaces their source.

        It becomes the lines to print, or the number of selected lines if these are counted.
        """
        count = _MIN_FILES
        while batch := list(islice(files, count)):
            paths = [os.fsencode(source) if isinstance(source, str) else b"" for _, source in batch]
            found: list[Any]
            if is_counted or not self._is_alone:
                found = self._search.counted(paths)
                if not is_counted:
                    found = [b"" if number == 0 else None for number in found]
            else:
                found = self._search.written(paths, [name if self._prefixes else b"" for name, _ in batch])
            for (name, source), answer in zip(batch, found, strict=True):
                yield name, source if answer is None else answer
            size = sum(len(answer) for answer in found if isinstance(answer, bytes))
            count = min(2 * count, _MAX_FILES) if size < _MAX_OUTPUT else max(count // 2, 1)

    def write(self, name: bytes, source: Any) -> bool:
        """Print the lines of a file, and return whether one was selected."""
        search = self._search
        if isinstance(source, bytes):
            self._print(source)
            return source != b""
        search.begin_file(name if self._prefixes else b"")
        for block in self._blocks(source, self._max_count):
            self._print(search.write(block))
            if search.is_done:
                break
        return search.has_selected

    def count(self, name: bytes, source: Any) -> bool:
        """Print the number of selected lines of a file, and return whether there are any.

        A file that cannot be read to its end has no number.
        """
        total, earlier = source if isinstance(source, int) else 0, self._errors.count
        self._search.begin_file(name)
        for block in () if isinstance(source, int) else self._blocks(source, self._max_count):
            total += self._search.count(block)
            if self._search.is_done:
                break
        if self._errors.count == earlier:
            self._print((name + b":" if self._prefixes else b"") + b"%d\n" % total)
        return total > 0

    def print_name(self, name: bytes, source: Any, *, is_wanted: bool) -> bool:
        """Print the name of a file with selected lines or, unless `is_wanted`, without them; return whether it has such lines.

        A file that cannot be read to its end, and has none up to there, is not printed.
        """
        earlier = self._errors.count
        found = self.selects(source)
        if found == is_wanted and self._errors.count == earlier:
            self._print(name + b"\n")
        return found

    def selects(self, source: Any) -> bool:
        """Return whether a file has a selected line."""
        if isinstance(source, int):
            return source > 0
        self._search.begin_file(b"")
        return any(self._search.count(block) for block in self._blocks(source, 1))

    def _blocks(self, source: Any, max_count: int | None) -> Iterator[Any]:
        return self._errors.reported(blocks_of(source, BLOCK_BYTES if max_count is None else FEW_BYTES))

    def _print(self, lines: bytes | memoryview) -> None:
        if not lines:
            return
        left = memoryview(lines)
        while left:  # standard output without a buffer (PYTHONUNBUFFERED) takes a part
            left = left[sys.stdout.buffer.write(left) :]
        if self._is_terminal:
            sys.stdout.buffer.flush()
