"""What every command that reads text can be told: options of `read_csv` under its own names, and the files.

An option that is not given is not in the parsed arguments, so that each default stands in one place, `read_csv`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from headrace import Table, read_csv
from headrace.cli import values
from headrace.cli.progress import progress_bar
from headrace.core.errors import OptionError, SourceError

STDIN = "-"


def add_sources(parser: argparse.ArgumentParser) -> Any:
    """Add the files to look at, as ``given.file``, a list; returns the group, for what is said of several."""
    what = f"delimited text, or a pattern such as 'data/**/*.csv' ({STDIN} for standard input)"
    parser.add_argument("file", metavar="FILE", nargs="+", help=what)
    group = parser.add_argument_group("the files")
    add = _adder(group)
    add("--no-glob", dest="glob", action="store_false", help="a FILE with *, ? or [ is no pattern")
    add(
        "--compression",
        action=values.NoneNamed,
        choices=("infer", "none", "gzip", "zstd", "bz2", "xz", "lz4"),
        help="how a FILE is compressed (default: infer, by its first bytes)",
    )
    add("--encoding", metavar="NAME", help="of the text, e.g. utf-16, latin-1, cp1252 (default: a byte order mark, or utf-8)")
    return group


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the files to read, and what is said of several."""
    group = add_sources(parser)
    add = _adder(group)
    _add_policy(
        add, "--encoding-errors", "strict", "replace", help="bytes that are no text: a fault, or U+FFFD (default: strict)"
    )
    add("--union-by-name", action="store_true", help="of several files: columns go by their names, not by their order")
    add("--file-paths", dest="include_file_paths", metavar="NAME", help="last column with the path that each row comes from")
    hive = _adder(group.add_mutually_exclusive_group())
    when = "(default: if all of several files have the same)"
    hive("--hive", dest="hive_partitioning", action="store_true", help=f"folders such as year=2024 give columns {when}")
    hive("--no-hive", dest="hive_partitioning", action="store_false", help="they do not")


def add_dialect_options(parser: argparse.ArgumentParser) -> Any:
    """Add what says how a text is written; returns the group."""
    group = parser.add_argument_group("the text")
    add = _adder(group)
    add("--sep", type=values.unescaped, help=r"what separates fields, 1 to 8 bytes; '\t' is a tab (default: comma)")
    add(
        "--quote",
        dest="quote_char",
        type=values.or_none,
        metavar="CHAR",
        help="what encloses fields; '' for nothing (default: \")",
    )
    add("--no-double-quote", dest="double_quote", action="store_false", help="two quotes in a field do not stand for one")
    add("--lenient-quotes", action="store_true", help="a quote that cannot stand where it does is text")
    add("--strict-quotes", action="store_true", help="a quote inside an unquoted field makes its record malformed")
    add(
        "--escape",
        dest="escape_char",
        type=values.or_none,
        metavar="CHAR",
        help="what makes the next byte data (default: nothing)",
    )
    add("--comment", type=values.or_none, metavar="PREFIX", help="leave out lines that begin so (default: none)")
    add(
        "--line-end",
        dest="lineterminator",
        type=values.unescaped,
        metavar="END",
        help=r"what ends a record (default: \n, \r\n, \r)",
    )
    add("--skip-initial-space", action="store_true", help="leave out spaces before a field")
    add("--keep-blank-lines", dest="skip_blank_lines", action="store_false", help="an empty line is a record of one empty field")
    _add_header(group)
    add("--skip-rows", type=values.whole_number, metavar="N", help="leave out so many lines in front of the header")
    return group


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add what says where records and fields are."""
    add = _adder(add_dialect_options(parser))
    _add_policy(add, "--dialect", "auto", help="auto: find what is not given here in the text (default: the defaults here)")
    add("--skip-rows-after-header", type=values.whole_number, metavar="N", help="leave out so many records behind the header")
    add("--skip-footer", type=values.whole_number, metavar="N", help="leave out so many records at the end")
    _add_policy(add, "--short-records", "null", "error", "reject", help="what to do with too few fields (default: as --on-error)")
    _add_policy(
        add,
        "--long-records",
        *("error", "truncate", "collect", "widen", "reject"),
        help="what to do with too many fields (default: as --on-error)",
    )


def _add_header(group: Any) -> None:
    add = _adder(group.add_mutually_exclusive_group())
    header = "the first record holds the names (default: if all of it is text)"
    add("--header", action="store_true", help=header)
    add("--no-header", action="store_false", dest="header", help="the first record is data")
    add("--header-rows", dest="header", type=values.indexes, metavar="N,...", help="the records, from 0, that hold the names")


def add_column_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which columns there are, and what their texts mean."""
    add = _adder(parser.add_argument_group("the columns"))
    add("--names", type=values.names, metavar="A,B,...", help="names of the columns")
    add("--columns", type=values.names, metavar="A,B,...", help="read these columns only")
    add(
        "--dtypes",
        type=values.dtypes,
        metavar="NAME=TYPE,...",
        help="types of some columns, or one type for all, e.g. string; the others are found in the data",
    )
    add("--no-infer", dest="infer_schema", action="store_false", help="columns without a given type are texts")
    add("--shrink", action="store_true", help="give each column the smallest type that holds it")
    _add_policy(add, "--strings", "plain", "view", "dictionary", help="what columns of text become (default: plain)")
    add(
        "--null",
        dest="null_values",
        action="append",
        metavar="TEXT",
        help="text that means null; repeat for several; it replaces the default, which is the empty field ('')",
    )
    add("--quoted-null", action="store_true", help="a quoted field may be null too")
    add("--true", dest="true_values", action="append", metavar="TEXT", help="text that means true; repeat for several")
    add("--false", dest="false_values", action="append", metavar="TEXT", help="text that means false; repeat for several")
    add("--decimal", metavar="CHAR", help="what stands before decimals (default: .)")
    add("--thousands", metavar="CHAR", help="what stands between groups of three digits (default: nothing)")
    add(
        "--date-format",
        action=values.DateFormats,
        metavar="[NAME=]FORMAT",
        help="how dates and times are written, e.g. %%d.%%m.%%Y, in all columns or in one; "
        "repeat for several: the first that fits counts",
    )
    add("--dayfirst", action="store_true", help="31/01/2024, 31-01-2024 and 31.01.2024 are dates too")
    add("--row-index", dest="row_index_name", metavar="NAME", help="first column with the index of each record")
    add("--row-index-offset", type=values.whole_number, metavar="N", help="what that index counts from (default: 0)")


def add_work_options(parser: argparse.ArgumentParser, on_error: str = "raise") -> Any:
    """Add how the work is done; returns the group, for options of one command."""
    group = parser.add_argument_group("the work")
    add = _adder(group)
    policies = ("raise", "null", "reject")
    meanings = f"stop at the first (raise), make the field null, or reject the record (default: {on_error})"
    _add_policy(add, "--on-error", *policies, help=f"bad data: {meanings}")
    add("--threads", type=values.whole_number, metavar="N", help="at most so many threads (default: all cores)")
    add("--chunk-bytes", type=values.whole_number, metavar="N", help="bytes of text that a thread takes at a time")
    if on_error != "raise":
        parser.set_defaults(on_error=on_error)
    return group


def add_rows_option(group: Any, *flags: str, default: int | None = None) -> None:
    """Add how many records to read."""
    shown = "all" if default is None else default
    group.add_argument(
        *flags,
        dest="n_rows",
        type=values.whole_number,
        metavar="N",
        default=default,
        help=f"read so many records at most (default: {shown})",
    )


def read_given(given: argparse.Namespace, **forced: Any) -> Table:
    """The files that `given` names as a table, read as its options say, with a progress bar if that takes long."""
    options = given_to(read_csv, given) | forced
    with progress_bar() as progress:
        return read_csv(source_of(given.file), **options, progress=progress)


def given_to(function: Any, given: argparse.Namespace) -> dict[str, Any]:
    """What was given of a function's keywords."""
    known = function.__kwdefaults__ or {}
    return {name: value for name, value in vars(given).items() if name in known}


def flags() -> dict[str, str]:
    """Options of `read_csv` by name, as a person types them; without those whose flag says the contrary (``--no-infer``)."""
    parser = argparse.ArgumentParser(add_help=False)
    for add in (add_files, add_text_options, add_column_options):
        add(parser)
    add_rows_option(add_work_options(parser), "--n-rows")
    spelled: dict[str, str] = {}
    for action in parser._actions:  # noqa: SLF001  argparse has no other way to ask
        if action.option_strings and action.const is not False:
            spelled.setdefault(action.dest, action.option_strings[0])
    return spelled


def source_of(files: Sequence[str]) -> Any:
    """What `read_csv` takes for these files."""
    if files.count(STDIN) > 1:
        raise OptionError(f"{STDIN} is given twice; standard input can be read once")
    if STDIN in files and sys.stdin is None:
        raise SourceError("standard input is closed")
    sources = [sys.stdin.buffer if file == STDIN else file for file in files]
    return sources[0] if len(sources) == 1 else sources


def _adder(group: Any) -> Callable[..., None]:
    def add(*flags: str, **keywords: Any) -> None:
        group.add_argument(*flags, default=argparse.SUPPRESS, **keywords)

    return add


def _add_policy(add: Callable[..., None], flag: str, *choices: str, help: str) -> None:  # noqa: A002  argparse's name
    add(flag, choices=choices, help=help)
