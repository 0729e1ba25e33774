"""Runs tasks of the first hour with a file: unchanged except for the function's name, or with an error that says what to use."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from everyday_cases import Trial, values_of
from first_hour_tasks import CUDF, DUCKDB, HERE, NUMPY, PANDAS, POLARS, PYARROW, TEXT
from pyarrow import csv

import headrace

TASKS = {"pandas": PANDAS, "polars": POLARS, "pyarrow": PYARROW, "duckdb": DUCKDB, "cudf": CUDF, "numpy": NUMPY}
UNCHANGED = {"pandas": 19, "polars": 25, "pyarrow": 18, "duckdb": 15, "cudf": 18, "numpy": 21}
"""Number of tasks that run unchanged."""
MODULES = {"pd": pd, "pl": pl, "csv": csv, "pa": pa, "duckdb": duckdb, "np": np, "io": io, "Path": Path, "headrace": headrace}
ARRAYS = {
    "a": np.array([3, 1, 4, 1, 5, 2, 6, 5, 3, 5]),
    "f": np.linspace(0.03, 0.97, 40)[::-1].copy(),
    "m": np.array([[3, 1, 2], [9, 7, 8]]),
    "words": np.array(["b", "a"]),
}
ADVICE = (
    "use ",
    "pass ",
    "remove",
    "rename",
    "read the columns",
    "filter the rows",
    "see ",
    "taken literally",
    "can be taken",
    "write it",
    "call it before",
)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("first_hour")
    path, tabs, zipped = folder / "t.csv", folder / "t.tsv", folder / "t.csv.zip"
    path.write_text(TEXT)
    tabs.write_text(TEXT.replace(",", "\t"))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(path, "t.csv")
    paths = {"path": path, "tabs": tabs, "zipped": zipped, "folder": folder, "out": folder / "out.txt"}
    return {**MODULES, **ARRAYS, "text": TEXT, **{name: str(one) for name, one in paths.items()}}


def outcome(task: str, names: dict[str, Any]) -> Any:
    """Return the values of a task: its result, or the text of the file that it writes."""
    out = Path(names["out"])
    out.unlink(missing_ok=True)
    found = values_of(eval(task, names))
    return out.read_text().replace('"', "") if out.exists() else found


TRIAL = Trial(TASKS, HERE, outcome, ADVICE)


@pytest.mark.parametrize(("reader", "task"), TRIAL.rows())
def test_a_task_gives_the_peers_answer_or_says_what_to_use(reader: str, task: str, names: dict[str, Any]) -> None:
    TRIAL.check(reader, task, names)


@pytest.mark.parametrize("reader", TASKS)
def test_number_of_tasks_that_run_unchanged(reader: str, names: dict[str, Any]) -> None:
    TRIAL.check_count(reader, UNCHANGED[reader], names)
