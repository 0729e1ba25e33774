"""Lists and compiles the kernels for GPUs: `headrace kernels`."""

from __future__ import annotations

import argparse
from typing import Any

from headrace.api.kernels import all_variants, build_kernels

_EXAMPLES = """\
examples:
  headrace kernels list
  headrace kernels build
  headrace kernels build --arch sm_90 --to cubins

"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `kernels` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "kernels",
        help="list or compile the kernels for GPUs",
        description="List the programs that run on GPUs, or compile all of them, so that no later call waits for the compiler. "
        "Neither needs a GPU. Compiling needs headrace[cuda13].",
        epilog=_EXAMPLES + epilog,
    )
    parser.set_defaults(run=run)
    parser.add_argument("action", choices=("list", "build"), help="print the name of every program, or compile all")
    parser.add_argument("--arch", metavar="A,B,...", help="sm_80, sm_90, sm_100, sm_120 (default: all of them)")
    parser.add_argument("--to", metavar="FOLDER", help="folder for compiled programs (default: the user's cache)")


def run(given: argparse.Namespace) -> int:
    """List or compile, and return 0."""
    if given.action == "build":
        _build(given)
    else:
        print(*all_variants(), sep="\n")
    return 0


def _build(given: argparse.Namespace) -> None:
    """Compile the programs and print a line for each."""
    choice = {} if given.arch is None else {"architectures": given.arch.split(",")}
    count = compiled = 0
    for built in build_kernels(folder=given.to, **choice):
        count += 1
        compiled += built.seconds > 0
        took = f"{built.seconds:6.2f} s" if built.seconds else "  cached"
        print(f"{built.architecture:<6}  {built.nbytes:>8_} bytes  {took}  {built.variant}")
    print(f"{count} programs, {compiled} of them compiled now")
