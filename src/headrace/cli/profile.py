"""Scans a text and shows where the time goes: `headrace profile`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from headrace import OptionError, scan_csv
from headrace.api.files import checked_path
from headrace.api.scan.profile import Timeline, profile
from headrace.cli.common import options
from headrace.core.errors import shown


def add_parser(commands: Any, epilog: str) -> None:
    """Add `profile` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "profile",
        help="scan a text and show where the time goes: a trace for Perfetto, and a page with a timeline",
        description="Scan a text batch by batch, and write when each thread works and waits: TRACE.json for ui.perfetto.dev, "
        "and TRACE.html.",
        epilog=epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    what = "path of both files, without their suffix (default: trace)"
    parser.add_argument("--trace", metavar="TRACE", default="trace", help=what)
    added = options.add_options(parser, "files", "text", "columns", "work", defaults={"on_error": "null"}, without=("n_rows",))
    group = added["work"]
    options.add_scan_options(group)
    group.add_argument(
        "--to", default=argparse.SUPPRESS, metavar="DEVICE", help="device that batches are copied to (default: none)"
    )


def run(given: argparse.Namespace) -> int:
    """Scan, write both files, print a summary, and return 0."""
    trace = Path(checked_path(given.trace, "--trace"))
    if not trace.name:
        raise OptionError(f"--trace must be the path of a file without its suffix, not {given.trace!r}")
    if not trace.parent.is_dir():
        raise OptionError(f"--trace {shown(given.trace)} is in a folder that does not exist")
    timeline, report = profile(scan_csv(options.source_of(given.file), **options.options_for(scan_csv, given)))
    name = os.path.basename(given.file[0])
    page, events = trace.with_name(trace.name + ".html"), trace.with_name(trace.name + ".json")
    events.write_text(timeline.as_trace())
    page.write_text(timeline.as_page(name))
    print(_as_text(timeline, report.bytes))
    print(f"{events} (for ui.perfetto.dev), {page}")
    return 0


def _as_text(timeline: Timeline, nbytes: int) -> str:
    whole = max((span.end for span in timeline.spans), default=0.0)
    rate = f", {nbytes / whole / 1e9:.2f} GB/s" if whole else ""
    rows = [f"{nbytes:_} bytes in {whole:.3f} s{rate}"]
    rows += [f"{lane:10} {work:32} {seconds:8.3f} s" for (lane, work), seconds in timeline.seconds().items()]
    return "\n".join(rows)
