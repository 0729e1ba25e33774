"""Proposes how a text is written, with the evidence: `headrace sniff`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from headrace import sniff_csv
from headrace.cli.common import options

_SAMPLE_BYTES = 256 << 10


def add_parser(commands: Any, epilog: str) -> None:
    """Add `sniff` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sniff",
        help="propose separator, quotes, header, lines to skip and types, with the evidence",
        description="Propose how a text is written, from its beginning and three places further on: separator, quotes, escape, "
        "comments, header, lines to skip, types. Options that are given are kept. To read by the proposal: --dialect auto.",
        epilog=epilog,
    )
    parser.set_defaults(run=run)
    options.add_files(parser)
    parser.add_argument("--json", action="store_true", help="print an object")
    options.add_options(parser, "files", "text", function=sniff_csv)


def run(given: argparse.Namespace) -> int:
    """Look, print the proposal, and return 0."""
    source = options.source_of(given.file)
    if given.file == [options.STDIN]:
        source = _whole_lines(source.read(_SAMPLE_BYTES))
    sniffed = sniff_csv(source, **options.options_for(sniff_csv, given))
    print(json.dumps(asdict(sniffed), indent=2) if given.json else sniffed)
    return 0


def _whole_lines(beginning: bytes) -> bytes:
    """Cut off the last line if it may be incomplete."""
    return beginning if len(beginning) < _SAMPLE_BYTES else beginning[: beginning.rfind(b"\n") + 1] or beginning
