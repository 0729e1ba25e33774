"""Lists the options of `headrace grep`, and parses words without argparse, whose import takes as long as a short search.

Words that are wrong, or ask for help, are left to argparse, which has the same table.
"""

from __future__ import annotations

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

    Parameters
    ----------
    names
        ``-c --count``, with a space between them.
    help
        One line of help.
    metavar
        Name of its value in the help; ``N`` for a number.
    choices
        The valid values; the first one is the default.
    """

    __slots__ = ("choices", "help", "metavar", "names")

    def __init__(self, names: str, help: str, *, metavar: str = "", choices: tuple[str, ...] = ()) -> None:  # noqa: A002
        self.names, self.help, self.metavar, self.choices = names.split(), help, metavar, choices

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
        return 0 if self.metavar == "N" else self.choices[0] if self.choices else False

    def value_of(self, text: str) -> Any:
        """Return the value of a text, None if it is none."""
        if self.metavar == "N":
            return int(text) if text.isascii() and text.lstrip("-").isdigit() else None
        return text if not self.choices or text in self.choices else None


OPTIONS = (
    GrepOption("-E --extended-regexp", EXPRESSION),
    GrepOption("-i --ignore-case", "ASCII letters match in either case"),
    GrepOption("-v --invert-match", "select the other lines"),
    GrepOption("-n --line-number", "print the number of each line"),
    GrepOption("-c --count", "print the number of selected lines of each file"),
    GrepOption("-l --files-with-matches", "print the names of files with selected lines"),
    GrepOption("-o --only-matching", "print each occurrence on a line of its own"),
    GrepOption("--color", "mark occurrences (auto: in terminals)", choices=("auto", "always", "never")),
    GrepOption("-A --after-context", "print N lines after each selected one", metavar="N"),
    GrepOption("-B --before-context", "print N lines before each selected one", metavar="N"),
)


class GrepArguments:
    """The arguments: a value for each option, the pattern and the files."""

    pattern: str
    file: list[str]

    def __init__(self) -> None:
        for option in OPTIONS:
            setattr(self, option.field, option.default)


def parsed(words: Sequence[str]) -> GrepArguments | None:
    """Return the arguments; None if a word is wrong or asks for help."""
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
    if len(others) < 2:
        return None
    given.pattern, given.file = others[0], others[1:]
    return given


def _set(given: GrepArguments, by_name: dict[str, GrepOption], word: str, left: Iterator[str]) -> bool:
    """Set the options of a word, such as ``-inA2`` or ``--count``; return whether they exist and have their values."""
    name, _, rest = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
    option = by_name.get(name)
    if option is None:
        return False
    if option.takes_value:
        has_rest = len(word) > len(name)
        value = option.value_of(rest if has_rest else next(left, ""))
        setattr(given, option.field, value)
        return value is not None
    setattr(given, option.field, True)
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
        parser.add_argument(*option.names, dest=option.field, **keywords)
