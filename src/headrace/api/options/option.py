"""Defines the fields of a row of the table of options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.api.options.word import Word


@dataclass(frozen=True, slots=True)
class Flag:
    """A command-line flag that sets an option."""

    spelling: str  # The flag as a user types it, e.g. ``"--quote"``.
    kind: str = "text"  # form of its value, a key of `headrace.cli.common.values.KINDS`: ``"on"`` and ``"off"`` take no value
    metavar: str = ""  # name of the value in the command's help; empty for flags without a value
    help: str = ""  # its line in the command's help; empty for the option's own help
    default: str = ""  # the default in words, for the command's help; empty if the help line says it, or there is none


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `read_csv` and `scan_csv`."""

    name: str  # name of the keyword argument
    default: object  # value of the keyword argument if a caller does not give it
    parse: Callable[[str, Any], Any]
    """Function that checks a value. It takes the option's name and the value, and returns the value that the groups of
    `CsvOptions` hold. It raises `OptionError` for a value that the option does not take.
    """
    help: str  # meaning of the option, in one line
    words: tuple[Word, ...] = ()  # parameters of other readers that are this option, or stand for a value of it
    flags: tuple[Flag, ...] = ()  # command-line flags that set it; empty if the command does not offer the option
    choices: tuple[str, ...] = ()  # the texts that it takes, if there is a fixed list
    is_found: bool = False  # True if `sniff_csv` finds it, so that its default there is `"auto"`
    is_always_proposed: bool = False  # True if every proposal of `sniff_csv` names it

    @property
    def aliases(self) -> tuple[str, ...]:
        """Names that other readers use for the option, accepted as keyword arguments."""
        return tuple(word.name for word in self.words if word.kind == "option" and word.name != self.name)
