"""Measures the experiments of a paper and prints its numbers beside ours: `headrace bench paper`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from headrace.cli.bench.registry import PAPERS, experiments_of
from headrace.core.errors import OptionError

if TYPE_CHECKING:
    from headrace.cli.bench.experiment import Experiment

WRONG_ANSWER = 1

_EXAMPLES = """\
examples:
  headrace bench paper --list
  headrace bench paper string-matching --device cuda
  headrace bench paper string-matching --experiment table-2.3 --csv found.csv --plot found.svg

"""


def add_parser(commands: Any, epilog: str) -> None:
    """Add `bench` to argparse's `commands`; `epilog` ends its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bench",
        help="repeat the measurements of a paper",
        description="Repeat the measurements of a paper and print its numbers beside ours. Each answer is checked before it is "
        "timed. A time is the median from the call to the usable result, with the input in the memory of the device. "
        "The exit code is 1 if an answer is wrong.",
        epilog=_EXAMPLES + epilog,
    )
    parser.set_defaults(run=run)
    parser.add_argument("kind", choices=("paper",), help="the kind of measurements")
    parser.add_argument("name", metavar="NAME", nargs="?", choices=tuple(PAPERS), help="a paper; --list prints all")
    parser.add_argument("--list", action="store_true", help="print the papers, or the experiments of NAME")
    parser.add_argument(
        "--experiment", action="append", metavar="NAME", help="measure this experiment only; may be given several times"
    )
    parser.add_argument("--device", default="cpu", metavar="DEVICE", help="cpu or cuda (default: cpu)")
    parser.add_argument("--quick", action="store_true", dest="is_small", help="small inputs, each call timed once")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="least number of timed calls (default: 5)")
    parser.add_argument("--csv", metavar="FILE", help="write all rows to a file as CSV")
    parser.add_argument("--plot", metavar="FILE", help="draw all rows to a file as SVG")


def run(given: argparse.Namespace) -> int:
    """Measure, print, and return 0 if every answer is right."""
    if given.list and given.name is None:
        print(*(f"{name:<20}{paper.title}" for name, paper in PAPERS.items()), sep="\n")
        return 0
    if given.name is None:
        raise OptionError("NAME is missing; headrace bench paper --list prints the papers")
    experiments = experiments_of(given.name, given.experiment)
    if given.list:
        print(*(f"{experiment.name:<20}{experiment.title}" for experiment in experiments), sep="\n")
        return 0
    if given.repeat < 1:
        raise OptionError("--repeat must be 1 or more")
    return _measure(given, experiments)


def _measure(given: argparse.Namespace, experiments: Sequence[Experiment]) -> int:
    from headrace.api.devices import describe_device, needed_numpy
    from headrace.cli.bench.experiment import Setting, WrongAnswerError
    from headrace.cli.bench.output import Measured, csv_of, plot_of, table_of

    needed_numpy("headrace bench")
    machine, results = describe_device(given.device), []
    setting = Setting(given.device, given.is_small, given.repeat)
    with _opened(given.csv) as table, _opened(given.plot) as plot:  # before minutes of measurements
        print(f"{machine}{'; small inputs' if given.is_small else ''}\n")
        try:
            for experiment in experiments:
                if experiment.needs_gpu and not setting.is_gpu:
                    print(f"{experiment.name}: {experiment.title}; it needs --device cuda\n")
                    continue
                results.append(Measured(experiment, tuple(experiment.measure(setting))))
                print(table_of(results[-1]), flush=True)
                if table is not None:  # at once, so that an interrupted run keeps its rows
                    table.seek(0)
                    table.write(csv_of(results))
                    table.flush()
        except WrongAnswerError as error:
            print(f"headrace: {error}; it was not timed", file=sys.stderr)
            return WRONG_ANSWER
        if plot is not None:
            plot.write(plot_of(results, machine))
    return 0


def _opened(path: str | None) -> AbstractContextManager[TextIO | None]:
    return nullcontext() if path is None else open(path, "w", encoding="utf-8")
