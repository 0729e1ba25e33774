"""Lists the papers whose measurements the command repeats: one row for each.

A module is imported only when its paper is measured.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.core.errors import OptionError, nearest

if TYPE_CHECKING:
    from headrace.cli.bench.experiment import Experiment


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: the module of its experiments in this folder, and a line for the help."""

    module: str
    title: str


PAPERS: dict[str, Paper] = {
    "string-matching": Paper("string_matching", "one pattern in a text (Ashkiani 2017, chapter 2: tables 2.2 to 2.7)"),
    "lsm": Paper("lsm", "sorted maps (Ashkiani 2017, chapter 4: tables 4.2 to 4.4)"),
    "slab-hash": Paper("slab_hash", "hash maps (Ashkiani 2017, chapter 5: figures 5.4 to 5.7, allocation)"),
    "dictionary-merge": Paper("dictionary_merge", "main and delta of a column store (Krueger et al. 2011: figures 2 and 4)"),
}  # papers by the name that the command takes


def experiments_of(name: str, chosen: list[str] | None = None) -> tuple[Experiment, ...]:
    """Return the experiments of a paper, all or those that are chosen, in the order of the paper.

    `name`: a name in `PAPERS`. `chosen`: names of experiments; None or an empty list for all. Raise OptionError if the paper
    has no such experiment.
    """
    found: tuple[Experiment, ...] = importlib.import_module(f"headrace.cli.bench.{PAPERS[name].module}").EXPERIMENTS
    names = [experiment.name for experiment in found]
    for one in chosen or ():
        if one not in names:
            near = nearest(one, names)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(names)}"
            raise OptionError(f"{name} has no experiment {one!r}; {hint}")
    return tuple(experiment for experiment in found if not chosen or experiment.name in chosen)
