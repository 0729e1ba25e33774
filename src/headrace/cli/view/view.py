"""Shows a table in the terminal, page by page: `headrace view`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Any

from headrace import read_csv, scan_csv
from headrace.cli.common import options
from headrace.cli.view.lazy_rows import LazyRows
from headrace.cli.view.screen import Screen
from headrace.core.errors import MissingDependencyError

_SAMPLE_ROWS = 10_000
_BATCH_BYTES = 4 << 20
_ESCAPE_MS = 25
_KEYS = """\
keys:
  arrows, h j k l         one row or column on
  page up and down, b, space, home, end (G)
  /TEXT                   the next row with a text in any column, in any case; n and N repeat
  gN                      row N
  q                       quit

"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `view` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "view",
        help="show a table in the terminal, page by page, with search",
        description="Show a table in the terminal, page by page. Fields are shown as they are written; types are inferred from "
        f"the first {_SAMPLE_ROWS:_} rows. The files are read as far as needed, so they may be larger than memory. "
        "If the output is not a terminal, all rows are printed.",
        epilog=_KEYS + epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    options.add_options(parser, "files", "text", "columns", "work", defaults={"on_error": "null"}, without=("n_rows", "shrink"))


def run(given: argparse.Namespace) -> int:
    """Show the table until the user quits, and return 0."""
    with options.source_to_reread(given.file) as source:
        known, _ = options.with_proposal(given, source, scan_csv)
        sample = read_csv(source, **known, n_rows=_SAMPLE_ROWS)
        types = {name: str(kind) for name, kind in sample.schema.items()}
        as_written = {"dtypes": "string", "infer_schema": False, "batch_bytes": _BATCH_BYTES}
        rows = LazyRows(source, {**known, **as_written})
        if sys.stdout.isatty():
            _show(Screen(rows, types))
        else:
            _print_all(rows, types)
    return 0


def _print_all(rows: LazyRows, types: Mapping[str, str]) -> None:
    """Print all rows, one screen's layout for each page."""
    page = 1000
    screen = Screen(rows, types, height=page + 3, width=1 << 20)
    is_first = True
    while is_first or rows.row(screen.top) is not None:
        lines = [line for line in screen.lines()[:-1] if line]
        print(*(lines if is_first else lines[2:]), sep="\n")
        screen.top += page
        is_first = False


def _show(screen: Screen) -> None:
    try:
        import curses
    except ImportError:
        raise MissingDependencyError("headrace view needs Python's curses module") from None
    if not sys.stdin.isatty():
        terminal = os.open("/dev/tty", os.O_RDONLY)
        os.dup2(terminal, 0)
    os.environ.setdefault("ESCDELAY", str(_ESCAPE_MS))
    curses.wrapper(lambda window: _loop(window, screen, curses))


def _loop(window: Any, screen: Screen, curses: Any) -> None:
    """Draw the screen after each key."""
    names = {
        curses.KEY_DOWN: "down",
        curses.KEY_UP: "up",
        curses.KEY_RIGHT: "right",
        curses.KEY_LEFT: "left",
        curses.KEY_NPAGE: "pagedown",
        curses.KEY_PPAGE: "pageup",
        curses.KEY_HOME: "home",
        curses.KEY_END: "end",
        curses.KEY_BACKSPACE: "backspace",
        curses.KEY_ENTER: "\n",
    }
    goes_on = True
    while goes_on:
        screen.height, screen.width = window.getmaxyx()
        window.erase()
        for at, line in enumerate(screen.lines()):
            look = curses.A_BOLD if at == 0 else curses.A_DIM if at == 1 else curses.A_NORMAL
            if at == screen.height - 1:
                look = curses.A_REVERSE
            window.addstr(at, 0, line, look)
        window.refresh()
        key = window.get_wch()
        if key == curses.KEY_RESIZE:
            continue
        goes_on = screen.press(names.get(key, "") if isinstance(key, int) else key)
