"""DuckDB's own test files of patterns, partitions and union by name: our table against the one DuckDB makes of the same files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import headrace
from headrace import OptionError, read_csv

DATA = Path(__file__).parents[1] / "data/duckdb-csv"
CASES: dict[str, dict[str, Any]] = {
    "glob/a*/*.csv": {},
    "glob/a1/*.csv": {"filename": True},
    "glob/?[13]/?1.csv": {"dtypes": str},
    "glob/f_?.csv": {},
    "glob/**/b1.csv": {},
    "glob/crawl/stackoverflow/**/f.csv": {"header": False},
    "glob/crawl/stackoverflow/x/*/f.csv": {"header": False},
    "hive-partitioning/simple/*/*/*.csv": {},
    "hive-partitioning/simple/**/test.csv": {"filename": "file"},
    "hive-partitioning/types/*/*/*.csv": {},
    "hive-partitioning/different_order/*/*/*.csv": {},
    "hive-partitioning/mismatching_types/*/*.csv": {},
    "hive-partitioning/mismatching_contents/*/*.csv": {"union_by_name": True},
    "hive-partitioning/mismatching_count/**/*.csv": {},
    "hive-partitioning/mismatching_names/*/*/*.csv": {},
    "union-by-name/ubn[123].csv": {"union_by_name": True, "sep": ",", "dtypes": str},
    "union-by-name/ubn[!14].csv": {"union_by_name": True, "dtypes": str},
    "union-by-name/type_mismatch/*.csv": {"union_by_name": True},
    "union-by-name/gabor/Post/*.csv": {"union_by_name": True, "sep": "|", "dtypes": str},
    "union-by-name/gabor/Comment/*.csv": {"sep": "|", "dtypes": str},
}


def ours(pattern: str, options: dict[str, Any]) -> headrace.Table:
    table = read_csv(DATA / pattern, **({"header": True} | options))
    table.report.check()
    return table


def theirs(pattern: str, options: dict[str, Any]) -> Any:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    given: dict[str, Any] = {"header": True, "sep": ","} | options
    strings = given.pop("dtypes", None) is str
    return connection.read_csv(str(DATA / pattern), **given, all_varchar=strings, sample_size=-1)


@pytest.mark.parametrize("pattern", CASES)
def test_same_table(pattern: str) -> None:
    """The order of rows is the same; that of columns differs, since DuckDB puts the path before the partitions."""
    pytest.importorskip("pyarrow")
    mine = ours(pattern, CASES[pattern]).to_pydict()
    found = theirs(pattern, CASES[pattern]).to_arrow_table()
    names = {"column0": "column_1", "column1": "column_2"}
    expected = {names.get(name, name): values for name, values in found.to_pydict().items()}
    assert mine == expected


def test_keys_that_differ_are_no_partitions_unless_asked_for() -> None:
    for folder in ("mismatching_count", "mismatching_names"):
        assert ours(f"hive-partitioning/{folder}/**/*.csv", {}).column_names == ["id", "value"]
        with pytest.raises(OptionError, match="hive_partitioning"):
            ours(f"hive-partitioning/{folder}/**/*.csv", {"hive_partitioning": True})


def test_hidden_files_match_no_star() -> None:
    with pytest.raises(headrace.NoMatchError):
        read_csv(DATA / "glob/crawl/hidden/**")
    assert read_csv(DATA / "glob/crawl/hidden/.hidden_dir/*", header=False).num_rows == 1
    assert read_csv(DATA / "glob/crawl/hidden/.*.csv", header=False).num_rows == 1


def test_empty_file_among_others() -> None:
    table = read_csv([DATA / "glob/empty/empty.csv", DATA / "glob/a1/a1.csv"])
    assert table.num_rows == 3
    assert [file.records for file in table.report.files] == [0, 4]


def test_files_of_other_columns_are_not_joined_by_position() -> None:
    with pytest.raises(OptionError, match=r"column 3 is 'age' in .*/f_2\.csv and 'email' in .*/f_1\.csv"):
        ours("union-by-name/type_mismatch/*.csv", {})


def test_times_with_and_without_an_offset_are_text() -> None:
    """DuckDB takes the local times for UTC."""
    table = ours("union-by-name/ubn[!14].csv", {"union_by_name": True})
    assert {name: str(kind) for name, kind in table.schema.items()} == {
        "b": "int64",
        "a": "string",
        "ts": "string",
        "k": "int64",
        "c": "int64",
    }
    evidence = table.report.columns[2].evidence
    assert evidence is not None and evidence.file is not None
    assert (evidence.file.rpartition("/")[2], evidence.text) == ("ubn3.csv", b"2003-06-30 12:03:10")
