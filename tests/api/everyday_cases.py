"""Runs tasks of peers with this package in their place, and compares values that readers hold in different ways."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import headrace

ERRORS = (TypeError, AttributeError, headrace.OptionError)
"""Errors of tasks that do not run. Their messages say what to use."""


@dataclass(frozen=True)
class Trial:
    """Tasks of peers, lines of Python with the peer's own names. Each is run with the peer, and with this package in its place.

    Parameters
    ----------
    tasks
        The tasks of each peer.
    here
        Patterns of the peers' names, and the names here. Nothing else of a task changes.
    run
        Returns the outcome of a task, given a place for its files.
    advice
        The message of an error contains one of these.
    unanswered
        Peers that are not run, because they need a GPU.
    """

    tasks: Mapping[str, Sequence[str]]
    here: Mapping[str, str]
    run: Callable[[str, Any], Any]
    advice: Sequence[str]
    unanswered: frozenset[str] = frozenset({"cudf"})

    def rows(self) -> list[Any]:
        """Return the parameter sets of a test of each task: the peer and the task."""
        return [
            pytest.param(reader, task, id=f"{reader}-{number}")
            for reader, tasks in self.tasks.items()
            for number, task in enumerate(tasks)
        ]

    def _run_here(self, task: str, place: Any) -> Any:
        for pattern, name in self.here.items():
            task = re.sub(pattern, name, task)
        try:
            return self.run(task, place)
        except ERRORS as error:
            return error

    def check(self, reader: str, task: str, place: Any) -> None:
        """The task gives the peer's answer, or an error that says what to use."""
        found = self._run_here(task, place)
        if isinstance(found, ERRORS):
            assert any(word in str(found) for word in self.advice), found
        elif reader not in self.unanswered:
            assert found == self.run(task, place)

    def check_count(self, reader: str, expected: int, place: Any) -> None:
        """This number of a peer's tasks runs unchanged."""
        errors = [task for task in self.tasks[reader] if isinstance(self._run_here(task, place), ERRORS)]
        assert len(self.tasks[reader]) - len(errors) == expected, errors


def plain(value: Any) -> object:
    """Return a value as a text, a number or None: readers differ in how they hold dates, numbers and nulls."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat().removesuffix("T00:00:00").replace("T", " ")
    return str(value) or None


def values_of(found: Any) -> Any:
    """Return nested lists of plain values, of a table or column of any library, or of Python values."""
    if isinstance(found, headrace.Column):
        return values_of({"": found.to_pylist()})
    if isinstance(found, duckdb.DuckDBPyRelation):
        found = found.to_arrow_table()
    for form in ("to_pydict", "to_dict"):
        if hasattr(found, form):
            arguments = {"to_dict": {"as_series": False} if isinstance(found, pl.DataFrame) else {"orient": "list"}}.get(form, {})
            return [[plain(value) for value in column] for column in getattr(found, form)(**arguments).values()]
    if isinstance(found, dict):
        return {str(name) if name else "": values_of(value) for name, value in found.items()}
    if isinstance(found, np.ndarray):
        found = found.tolist()
    if isinstance(found, list | tuple):
        return [values_of(one) for one in found]
    return plain(found)
