"""Runs 40 everyday tasks after a read for each peer: unchanged except for the function's name, or with an error that says what
to use.
"""

from __future__ import annotations

import csv as python_csv
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from everyday_cases import Trial, values_of
from pyarrow import csv
from table_tasks import CUDF, DUCKDB, HERE, PANDAS, POLARS, PYARROW, TEXT

import headrace
from headrace import OptionError
from headrace.core import foreign_names

TASKS = {"pandas": PANDAS, "polars": POLARS, "pyarrow": PYARROW, "duckdb": DUCKDB, "cudf": CUDF}
MODULES = {"pd": pd, "pl": pl, "csv": csv, "pa": pa, "pc": pc, "duckdb": duckdb, "headrace": headrace}
UNCHANGED = {"pandas": 28, "polars": 38, "pyarrow": 37, "duckdb": 30, "cudf": 29}
"""Number of tasks that run unchanged, of 40."""
ADVICE = ("use ", "table.filter(", "headrace.col(", "valid: ")


def outcome(task: str, folder: Path) -> Any:
    """Return the values of a task: its result, or the rows of the file that it writes."""
    path, out = folder / "t.csv", folder / "out"
    path.write_bytes(TEXT)
    out.unlink(missing_ok=True)
    found = eval(task, {**MODULES, "path": str(path), "out": str(out)})
    if not out.exists():
        return values_of(found)
    if out.read_bytes().startswith(b"PAR1"):
        return values_of(pq.read_table(out))
    with out.open(newline="", encoding="utf-8") as file:
        text = file.read()
    return list(python_csv.reader(text.splitlines(), delimiter=";" if ";" in text else ","))


TRIAL = Trial(TASKS, HERE, outcome, ADVICE)


@pytest.mark.parametrize(("reader", "task"), TRIAL.rows())
def test_a_task_gives_the_peers_answer_or_says_what_to_use(reader: str, task: str, tmp_path: Path) -> None:
    TRIAL.check(reader, task, tmp_path)


@pytest.mark.parametrize("reader", TASKS)
def test_most_tasks_run_unchanged(reader: str, tmp_path: Path) -> None:
    assert len(TASKS[reader]) == 40
    TRIAL.check_count(reader, UNCHANGED[reader], tmp_path)


def test_names_that_a_conversion_is_advised_for_exist_there() -> None:
    frames = {"to_pandas": pd.DataFrame, "to_polars": pl.DataFrame, "to_duckdb": duckdb.DuckDBPyRelation}
    found = headrace.read_csv(TEXT)
    frames["to_arrow"] = type(found.to_arrow())
    for form, names in foreign_names.ELSEWHERE["Table"].items():
        kind = frames[form.split(".")[1].removesuffix("()")]
        assert [name for name in names if not hasattr(kind, name)] == []
    assert [name for name in foreign_names.ELSEWHERE["Scan"]["scan.to_polars()"] if not hasattr(pl.LazyFrame, name)] == []
    series = foreign_names.ELSEWHERE["Column"]
    assert [name for name in series["polars.Series(column)"] if not hasattr(pl.Series, name)] == []
    assert [name for name in series["column.to_numpy()"] if not hasattr(found["id"].to_numpy(), name)] == []


def test_no_advised_name_exists_here() -> None:
    kinds = {
        "Columns": foreign_names.Columns,
        "Schema": foreign_names.Schema,
        "Table": headrace.Table,
        "Scan": headrace.Scan,
        "Column": headrace.Column,
        "ColumnExpression": headrace.ColumnExpression,
    }
    for name, kind in kinds.items():
        elsewhere = set().union(*foreign_names.ELSEWHERE.get(name, {}).values())
        for words in (foreign_names.ALIASES[name], foreign_names.ADVICE[name], elsewhere):
            assert [word for word in words if hasattr(kind, word)] == []
        assert not foreign_names.ALIASES[name].keys() & (foreign_names.ADVICE[name].keys() | elsewhere)


def test_functions_of_other_packages() -> None:
    assert [name for name in foreign_names.OF_PACKAGE if hasattr(headrace, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'read_table': use read_csv"):
        headrace.read_table  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'no_such_name'$"):
        headrace.no_such_name  # noqa: B018


def test_columns_and_schema_are_mappings() -> None:
    table = headrace.read_csv(TEXT)
    assert table.schema == {"id": "int64", "name": "string", "price": "float64", "when": "date32"}
    assert (list(table.columns), len(table.columns), "id" in table.columns) == (["id", "name", "price", "when"], 4, True)
    assert table.columns["id"] is table["id"]
    same = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("when", pa.date32())])
    assert table.schema == same
    assert same == table.schema
    assert table.schema != pa.schema(list(same)[::-1])
    assert table.schema == pl.Schema({"id": pl.Int64, "name": pl.String, "price": pl.Float64, "when": pl.Date})
    assert repr(headrace.read_csv(b"a\n1\n").schema) == "{'a': DataType('int64')}"
    with pytest.raises(TypeError):
        table.columns["id"] = table["name"]  # type: ignore[index]
    with pytest.raises(OptionError, match="axis=0: only columns are dropped"):
        table.drop("id", axis=0)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="subset is another name of columns"):
        table.unique("id", subset="id")


def test_other_names_are_no_attributes() -> None:
    table = headrace.read_csv(TEXT)
    for thing in (table, table["id"], headrace.scan_csv(TEXT), headrace.col("id"), headrace.col("id").str):
        with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
            thing.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match="only a table that a read returns has a report"):
        table.head(1).report  # noqa: B018


def test_null_words_of_pandas() -> None:
    text = b"id,price\n1,NA\n2,n/a\n3,1.5\n4,NULL\n"
    assert headrace.read_csv(text)["price"].type == "string"
    found = headrace.read_csv(text, null_values="auto")
    assert found.to_pydict() == {"id": [1, 2, 3, 4], "price": [None, None, 1.5, None]}
