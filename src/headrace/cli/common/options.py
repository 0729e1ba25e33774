"""Adds the options of `read_csv` to the parsers of commands, from the table of options.

A flag that is not given is not in the parsed arguments, so that each default has one place, the table.
"""

from __future__ import annotations

import argparse
import inspect
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from headrace.cli.common import values
from headrace.cli.common.progress import progress_bar
from headrace.core.errors import OptionError, SourceError

if TYPE_CHECKING:
    from headrace import Sniffed, Table
    from headrace.api.options.option import Flag, Option

STDIN = "-"

_TITLES = {"files": "the files", "text": "the text", "columns": "the columns", "work": "the work"}
"""Headings of the command's help, by group of the table."""

_REPAIRS = "short_records", "long_records", "skip_footer"

_NO_DEFAULTS: Mapping[str, object] = {}


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the files to read, as ``given.file``, a list."""
    what = f"delimited text, or a pattern such as 'data/**/*.csv' ({STDIN} for standard input)"
    parser.add_argument("file", metavar="FILE", nargs="+", help=what)


def add_options(
    parser: argparse.ArgumentParser,
    *groups: str,
    function: Callable[..., Any] | None = None,
    defaults: Mapping[str, object] = _NO_DEFAULTS,
    without: Sequence[str] = (),
) -> dict[str, Any]:
    """Add the flags of groups of options; return argparse's groups by name, for flags of one command.

    `groups`: groups of the table, in the order of the help.
    `function`: function that the options are passed to, by default `read_csv`; those that it does not take are left out.
    `defaults`: the command's own defaults, by name of the option.
    `without`: names of options to leave out.
    """
    from headrace.api.options.table import GROUPS

    parameters = inspect.signature(_read_csv() if function is None else function).parameters
    added = {name: parser.add_argument_group(_TITLES[name]) for name in groups}
    for name, group in added.items():
        for option in GROUPS[name]:
            if option.name in parameters and option.name not in without:
                add_option(group, option, defaults)
    return added


def add_option(group: Any, option: Option, defaults: Mapping[str, object] = _NO_DEFAULTS, also: Sequence[str] = ()) -> None:
    """Add the flags of an option, of which a caller may give one; `also` are other spellings of the first."""
    target = group.add_mutually_exclusive_group() if len(option.flags) > 1 else group
    for flag in option.flags:
        target.add_argument(
            *also,
            flag.spelling,
            dest=option.name,
            default=defaults.get(option.name, argparse.SUPPRESS),
            help=_help(option, flag, defaults),
            **_keywords(option, flag),
        )


def add_scan_options(group: Any) -> None:
    """Add the options of `scan_csv` that `read_csv` does not have."""
    what = "bytes of text in a batch, e.g. 64MB"
    group.add_argument("--batch-bytes", type=values.byte_count, metavar="SIZE", default=argparse.SUPPRESS, help=what)
    group.add_argument("--device", default=argparse.SUPPRESS, help="device that converts the text: cpu or cuda (default: cpu)")


def add_row_limit(group: Any, *also: str, default: int | None = None) -> None:
    """Add the number of records to read; `also` are other spellings of the flag, and `default` is the command's."""
    option = next(option for option in _options() if option.name == "n_rows")
    add_option(group, option, {"n_rows": default}, also)


def _help(option: Option, flag: Flag, defaults: Mapping[str, object]) -> str:
    default = defaults.get(option.name)
    shown = flag.default if default is None else str(default)
    text = (flag.help or option.help) + (f" (default: {shown})" if shown else "")
    return text.replace("%", "%%")


def _keywords(option: Option, flag: Flag) -> dict[str, Any]:
    keywords = dict(values.KINDS[flag.kind])
    if flag.metavar:
        keywords["metavar"] = flag.metavar
    if option.choices:
        keywords["choices"] = option.choices
    return keywords


def read_given(given: argparse.Namespace, **forced: Any) -> Table:
    """Read the files that `given` names with its options, with a progress bar if that takes long."""
    read_csv = _read_csv()
    options = options_for(read_csv, given) | forced
    with progress_bar() as progress:
        table: Table = read_csv(source_of(given.file), **options, progress=progress)
    return table


def _options() -> Sequence[Option]:
    from headrace.api.options.table import OPTIONS

    return OPTIONS


def _read_csv() -> Callable[..., Any]:
    from headrace import read_csv  # takes half of the time to start, and some commands do not read

    return read_csv


def options_for(function: Callable[..., Any], given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments that are keywords of a function."""
    known = inspect.signature(function).parameters
    return {name: value for name, value in vars(given).items() if name in known}


def flags() -> dict[str, str]:
    """Return the flag of each option, by name; without options whose flag says the contrary (``--no-infer``)."""
    return {option.name: option.flags[0].spelling for option in _options() if option.flags and option.flags[0].kind != "off"}


@contextmanager
def source_to_reread(files: Sequence[str]) -> Iterator[Any]:
    """Yield what `read_csv` takes for these files, and can be read several times: standard input is copied to a file."""
    if files != [STDIN]:
        yield source_of(files)
        return
    import tempfile  # takes time to import

    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(source_of(files), copy)
        copy.flush()
        yield copy.name


def with_proposal(given: argparse.Namespace, source: Any, function: Callable[..., Any]) -> tuple[dict[str, Any], Sniffed]:
    """Return the arguments for a function, with the dialect that `sniff_csv` proposes where none is given; and the proposal.

    Its policies for records of another width are left out, so that such records are shown as faults.
    """
    from headrace import sniff_csv

    sniffed = sniff_csv(source, **options_for(sniff_csv, given))
    known = options_for(function, given)
    known.pop("dialect", None)
    proposed = {name: value for name, value in sniffed.options.items() if name not in _REPAIRS}
    return {**proposed, **known}, sniffed


def source_of(files: Sequence[str]) -> Any:
    """Return what `read_csv` takes for these files."""
    if files.count(STDIN) > 1:
        raise OptionError(f"{STDIN} is given twice; standard input can be read once")
    if STDIN in files and sys.stdin is None:
        raise SourceError("standard input is closed")
    sources = [sys.stdin.buffer if file == STDIN else file for file in files]
    return sources[0] if len(sources) == 1 else sources
