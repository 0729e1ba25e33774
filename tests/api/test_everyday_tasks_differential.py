"""Runs 40 everyday tasks of each peer, unchanged except for the function's name: 90 % run, and the others say what to use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.csv as pc
import pytest
from everyday_cases import plain
from everyday_tasks import CUDF, DUCKDB, PANDAS, POLARS, PYARROW, TEXTS, Task

import headrace
from headrace import OptionError

TASKS = {"pandas": PANDAS, "polars": POLARS, "pyarrow": PYARROW, "duckdb": DUCKDB, "cudf": CUDF}
PEERS = {
    "pandas": lambda path, **options: pd.read_csv(path, **options).to_dict("list"),
    "polars": lambda path, **options: pl.read_csv(path, **options).to_dict(as_series=False),
    "pyarrow": lambda path, **options: pc.read_csv(path, **options).to_pydict(),
    "duckdb": lambda path, **options: duckdb.read_csv(path, **options).to_arrow_table().to_pydict(),
}
SHARE = 0.9
"""Least share of the tasks that run unchanged."""
ROWS = [
    pytest.param(reader, *task, id=f"{reader}-{number}") for reader, tasks in TASKS.items() for number, task in enumerate(tasks)
]


def path_of(text: str, folder: Path) -> str:
    path = folder / ("t.csv.gz" if text == "gzip" else "t.csv")
    path.write_bytes(TEXTS[text])
    return str(path)


def table_of(columns: dict[str, list[Any]]) -> list[list[object]]:
    return [[plain(value) for value in column] for column in columns.values()]


def outcome(task: Task, folder: Path) -> headrace.Table | OptionError:
    try:
        return headrace.read_csv(path_of(task[0], folder), **task[1])
    except OptionError as error:
        return error


@pytest.mark.parametrize(("reader", "text", "options"), ROWS)
def test_a_task_gives_the_peers_answer_or_says_what_to_use(
    reader: str, text: str, options: dict[str, Any], tmp_path: Path
) -> None:
    found = outcome((text, options), tmp_path)
    if isinstance(found, OptionError):
        assert "\n" not in str(found)
        assert any(word in str(found) for word in ("pass ", "use ", "set_index", "rename", "remove it"))
    elif reader in PEERS:
        assert table_of(found.to_pydict()) == table_of(PEERS[reader](path_of(text, tmp_path), **options))


@pytest.mark.parametrize("reader", TASKS)
def test_most_tasks_run_unchanged(reader: str, tmp_path: Path) -> None:
    count = sum(isinstance(outcome(task, tmp_path), headrace.Table) for task in TASKS[reader])
    assert len(TASKS[reader]) >= 40
    assert count >= SHARE * len(TASKS[reader]), f"{count} of {len(TASKS[reader])}"
