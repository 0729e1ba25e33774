"""Defines the fields of a row of the table of options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Flag:
    """A command-line flag that sets an option.

    Parameters
    ----------
    spelling
        The flag as a user types it, e.g. ``"--quote"``.
    kind
        Form of its value, a key of `headrace.cli.common.values.KINDS`: ``"on"`` and ``"off"`` take no value.
    metavar
        Name of the value in the command's help; empty for flags without a value.
    help
        Its line in the command's help; empty for the option's own help.
    default
        The default in words, for the command's help; empty if the help line says it, or there is none.
    """

    spelling: str
    kind: str = "text"
    metavar: str = ""
    help: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `read_csv` and `scan_csv`.

    Parameters
    ----------
    name
        Name of the keyword argument.
    default
        Value of the keyword argument if a caller does not give it.
    parse
        Function that checks a value. It takes the option's name and the value, and returns the value that the groups of
        `CsvOptions` hold. It raises `OptionError` for a value that the option does not take.
    help
        Meaning of the option, in one line.
    aliases
        Names that other readers use for it, accepted as keyword arguments.
    flags
        Command-line flags that set it; empty if the command does not offer the option.
    choices
        The texts that it takes, if there is a fixed list.
    """

    name: str
    default: object
    parse: Callable[[str, Any], Any]
    help: str
    aliases: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    choices: tuple[str, ...] = ()
