"""Lists the options of `headrace grep`, and parses words without argparse, whose import takes as long as a short search.

Words that are wrong, or ask for help, are left to argparse, which has the same table.
"""

from __future__ import annotations

from headrace.core.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from typing import Any

EXPRESSION = (
    "PATTERN is a regular expression: . [a-z] [^,] [[:alpha:]] \\d \\w \\s ( ) | * + ? {2,5}, and ^ and $ for the start and the "
    "end of a line; the longest of the leftmost matches counts"
)


class GrepOption:
    """An option. It is a flag, unless it has a `metavar` or `choices`.

    `names`: ``-c --count``, with a space between them.
    `metavar`: name of its value in the help; ``N`` for a number.
    `choices`: the valid values; the first one is the default.
    """

    __slots__ = ("choices", "help", "metavar", "names")

    def __init__(self, names: str, help: str, *, metavar: str = "", choices: tuple[str, ...] = ()) -> None:  # noqa: A002
        self.names, self.help, self.metavar, self.choices = names.split(), help, metavar, choices

    @property
    def is_repeated(self) -> bool:
        """True if it may be given several times, so that its value is a list."""
        return self.metavar not in ("", "N")

    @property
    def field(self) -> str:
        """Name of its value among the arguments."""
        return self.names[-1][2:].replace("-", "_")

    @property
    def takes_value(self) -> bool:
        """True if a value follows."""
        return bool(self.metavar or self.choices)

    @property
    def default(self) -> Any:
        """The value if it is not given."""
        return [] if self.is_repeated else None if self.metavar else self.choices[0] if self.choices else False

    def value_of(self, text: str) -> Any:
        """Return the value of a text, None if it is none."""
        if self.metavar == "N":
            digits = text.removeprefix("-")
            return int(text) if digits.isascii() and digits.isdigit() and len(digits) < _MAX_DIGITS else None
        return text if not self.choices or text in self.choices else None


_MAX_DIGITS = 4300  # digits from which on Python converts no text to an integer
OPTIONS = (
    GrepOption("-e --regexp", "a pattern; several may be given, and PATTERN is then a file", metavar="PATTERN"),
    GrepOption("-f --file", "read patterns from the lines of a file (- for standard input)", metavar="FILE"),
    GrepOption("-E --extended-regexp", EXPRESSION),
    GrepOption("-F --fixed-strings", "PATTERN is a text (default)"),
    GrepOption("-i --ignore-case", "ASCII letters match in either case"),
    GrepOption("-w --word-regexp", "letters, digits and underscores may neither precede nor follow a match"),
    GrepOption("-x --line-regexp", "a match is a whole line"),
    GrepOption("-v --invert-match", "select the other lines"),
    GrepOption("-m --max-count", "select at most N lines of each file", metavar="N"),
    GrepOption("-n --line-number", "print the number of each line"),
    GrepOption("-H --with-filename", "print the name of the file before each line (default for several files)"),
    GrepOption("-h --no-filename", "print no names of files"),
    GrepOption("-c --count", "print the number of selected lines of each file"),
    GrepOption("-l --files-with-matches", "print the names of files with selected lines"),
    GrepOption("-L --files-without-match", "print the names of files without selected lines"),
    GrepOption("-o --only-matching", "print each occurrence on a line of its own"),
    GrepOption("-q --quiet", "print no lines, and end with the first selected one"),
    GrepOption("-s --no-messages", "print no errors of files"),
    GrepOption("-a --text", "no effect: each file is searched as text"),
    GrepOption("-r --recursive", "search the files in folders, in the order of their names; links in them are not followed"),
    GrepOption("--include", "search only files whose name matches", metavar="GLOB"),
    GrepOption("--exclude", "skip files whose name matches", metavar="GLOB"),
    GrepOption("--exclude-dir", "with -r, skip folders whose name matches", metavar="GLOB"),
    GrepOption("--color", "mark occurrences (auto: in terminals)", choices=("auto", "always", "never")),
    GrepOption("-A --after-context", "print N lines after each selected one", metavar="N"),
    GrepOption("-B --before-context", "print N lines before each selected one", metavar="N"),
    GrepOption("-C --context", "print N lines before and after each selected one", metavar="N"),
)
_REFUSED = {
    "-P": "expressions of Perl are not supported; -E has most of their classes",
    "-G": "basic expressions are not supported; write the pattern for -E",
    "-z": "lines end with a line feed; NUL is not supported as their end",
    "-b": "positions of bytes are not supported; -n prints numbers of lines",
}  # reasons, by option of other programs
_PAIRS = (("with_filename", "no_filename"), ("files_with_matches", "files_without_match"))
_CONTRARY = dict(_PAIRS) | {second: first for first, second in _PAIRS}  # flags of which the last one counts


class GrepArguments:
    """The arguments: a value for each option, and the other words, the pattern and the files."""

    words: list[str]

    def __init__(self) -> None:
        for option in OPTIONS:
            setattr(self, option.field, option.default)


def parsed(words: Sequence[str]) -> GrepArguments | None:
    """Return the arguments; None if a word is wrong or asks for help. Raise OptionError if an option is one of other programs."""
    given, others = GrepArguments(), list[str]()
    by_name = {name: option for option in OPTIONS for name in option.names}
    left = iter(words)
    for word in left:
        if word == "--":
            others += left
        elif word in ("", "-") or not word.startswith("-"):
            others.append(word)
        elif not _set(given, by_name, word, left):
            return None
    given.words = others
    return given


def _set(given: GrepArguments, by_name: dict[str, GrepOption], word: str, left: Iterator[str]) -> bool:
    """Set the options of a word, such as ``-inA2`` or ``--count``; return whether they exist and have their values."""
    name, _, rest = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
    option = by_name.get(name)
    if option is None:
        if name[1].isdigit():  # argparse takes it for a pattern or a file
            raise OptionError(f"{name}: there is no such option; -C {word[1:]} prints lines before and after each selected one")
        if name in _REFUSED:
            raise OptionError(f"{name}: {_REFUSED[name]}")
        return False
    if option.takes_value:
        text = rest if len(word) > len(name) else next(left, None)
        value = None if text is None else option.value_of(text)
        setattr(given, option.field, [*getattr(given, option.field), value] if option.is_repeated else value)
        return value is not None
    setattr(given, option.field, True)
    if option.field in _CONTRARY:
        setattr(given, _CONTRARY[option.field], False)
    if word.startswith("--"):
        return word == name
    return not rest or (rest[0] != "-" and _set(given, by_name, f"-{rest}", left))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options to argparse's `parser`."""
    for option in OPTIONS:
        keywords: dict[str, Any] = {"default": option.default, "help": option.help}
        if not option.takes_value:
            keywords["action"] = "store_true"
        elif option.choices:
            keywords["choices"] = option.choices
        else:
            keywords |= {"metavar": option.metavar, "type": int if option.metavar == "N" else str}
            keywords["action"] = "append" if option.is_repeated else "store"
        parser.add_argument(*option.names, dest=option.field, **keywords)
