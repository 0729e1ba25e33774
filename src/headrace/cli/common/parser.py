"""Parses arguments with argparse: short error messages, suggestions, and the library's names of options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from headrace.core.errors import nearest

if TYPE_CHECKING:
    from headrace.api.options.option import Option


class Parser(argparse.ArgumentParser):
    """A parser that takes only complete names of options, and prints texts as they are. Its subcommands are of this class too."""

    def __init__(self, **keywords: object) -> None:
        defaults = {"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter}
        super().__init__(**(defaults | keywords))  # type: ignore[arg-type]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as argparse does, but refuse the value "--" of an option (``--to=--``), which argparse makes an empty list.

        The library's names of options are translated to flags: ``--quote-char`` and ``--quotechar`` to ``--quote``.
        """
        given = list(sys.argv[1:] if args is None else args)
        end = given.index("--") if "--" in given else len(given)
        if self._subparsers is not None:  # the words after the command are its own
            end = next((place for place, word in enumerate(given[:end]) if not word.startswith("-")), end)
        words = []
        for word in given[:end]:
            if word.startswith("--") and word.endswith("=--"):
                self.error(f"argument {word.partition('=')[0]}: expected a value, got '--'")
            words += self._flags_for(word)
        return super().parse_known_args(words + given[end:], namespace)

    def _flags_for(self, word: str) -> list[str]:
        """Return a word with the flag of the option that it names; nothing for a flag that is the default.

        An unknown option is an error, also if others are missing.
        """
        name, equals, value = word.partition("=")
        known = self._option_string_actions
        if not name.startswith("--") or " " in name or name in known:
            return [word]
        flags = _flag_of(name[2:].replace("-", "_"), known)
        if not flags and name.replace("_", "-") in known:
            flags = [name.replace("_", "-")]
        if flags is None:
            self.error(f"unknown option {name}{_hint(name, [*known, *_spellings(known)])}")
        if equals and not flags:
            self.error(f"option {name} takes no value, and is the default; got {value!r}")
        return [flag + equals + value for flag in flags]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices and isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            self.error(f"unknown command {value!r}{_hint(value, action.choices)}")
        super()._check_value(action, value)

    def error(self, message: str) -> NoReturn:
        """Print the error and how to get help, and exit. The usage is not printed, because it has 20 lines."""
        self.exit(2, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


def _hint(name: str, names: Collection[str]) -> str:
    near = nearest(name, names)
    return "" if near is None else f"; did you mean {near!r}?"


def _spellings(known: Collection[str]) -> list[str]:
    """Return the library's names, as flags, of the options that a parser knows."""
    return ["--" + name.replace("_", "-") for option in _options() if _is_known(option, known) for name in _names(option)]


def _is_known(option: Option, known: Collection[str]) -> bool:
    return any(flag.spelling in known for flag in option.flags)


def _flag_of(name: str, known: Collection[str]) -> list[str] | None:
    """Return the flag for a name of the library, or for its contrary (``no_double_quote``); None for another word.

    `known`: flags of the parser. Names of options without a flag there are other words.
    """
    for option in _options():
        if not _is_known(option, known):
            continue
        if name in _names(option):
            return _flag(option, is_on=True)
        if name.startswith("no_") and name[3:] in _names(option):
            return _flag(option, is_on=False) or None
    return None


def _options() -> Sequence[Option]:
    from headrace.api.options.table import OPTIONS  # takes half of the time to start, for words that few calls have

    return OPTIONS


def _names(option: Option) -> Sequence[str]:
    return (option.name, *option.aliases)


def _flag(option: Option, *, is_on: bool) -> list[str]:
    """Return the flag that sets an option, or that sets it to False; none if that is the default."""
    wanted = [flag.spelling for flag in option.flags if (flag.kind != "off") == is_on]
    return wanted[:1]
