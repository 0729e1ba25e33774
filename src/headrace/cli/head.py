"""Shows the first rows as a read returns them: `headrace head`."""

from __future__ import annotations

import argparse
from typing import Any

from headrace.api.picture import table_picture
from headrace.cli.common import options
from headrace.cli.common.words import print_table_faults


def add_parser(commands: Any, epilog: str) -> None:
    """Add `head` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "head",
        help="show the first rows",
        description="Show the first rows. Types are inferred from these rows; headrace schema infers them from the whole file.",
        epilog=epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    options.add_row_limit(parser, "-n", default=10)
    options.add_options(parser, "files", "text", "columns", "work", defaults={"on_error": "null"}, without=("n_rows",))


def run(given: argparse.Namespace) -> int:
    """Read, print, and return 0."""
    table = options.read_given(given)
    print(table_picture(table.columns, table.num_rows, max_rows=table.num_rows))
    print_table_faults(table)
    return 0
