"""`headrace kernels`: the kernels for GPUs, listed and compiled beforehand."""

from __future__ import annotations

import argparse
from typing import Any

from headrace.api.kernels import PREBUILT, all_variants, build_kernels

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
        description="List the programs that run on GPUs, or compile them all, so that no first call waits for a compiler. "
        "Neither needs a GPU; compiling needs headrace[cuda13].",
        epilog=_EXAMPLES + epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("action", choices=("list", "build"), help="print every program, or compile it")
    parser.add_argument("--arch", metavar="A,B,...", help="sm_80, sm_90, sm_100, sm_120 (default: all of them)")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--to", metavar="FOLDER", help="keep them there (default: the user's cache)")
    target.add_argument("--into-package", action="store_true", help="keep them in the installed package, before the user's cache")


def run(given: argparse.Namespace) -> int:
    """Do what is asked; 0."""
    if given.action == "build":
        _build(given)
    else:
        print(*all_variants(), sep="\n")
    return 0


def _build(given: argparse.Namespace) -> None:
    """Compile the programs and print a line for each."""
    folder = PREBUILT if given.into_package else given.to
    choice = {} if given.arch is None else {"architectures": given.arch.split(",")}
    count = made = 0
    for built in build_kernels(folder=folder, **choice):
        count += 1
        made += built.seconds > 0
        took = f"{built.seconds:6.2f} s" if built.seconds else "   there"
        print(f"{built.architecture:<6}  {built.nbytes:>8_} bytes  {took}  {built.variant}")
    print(f"{count} programs, {made} of them compiled now")
