"""Compares scans with a condition with filters of the whole table, for all sizes of batches."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import headrace
from headrace import OptionError, Table, UnknownColumnError, col, read_csv, scan_csv

TEXT = b"a,b,c\n" + b"".join(b"%d,%s,%d.5\n" % (i, [b"x", b"", b'"y\nz"'][i % 3], i % 7) for i in range(40))
CONDITIONS = [
    (col("a") > 20, pl.col("a") > 20),
    (col("b").is_null() | (col("c") * 2 < 4), pl.col("b").is_null() | (pl.col("c") * 2 < 4)),
    (col("b").str.contains("y\nz"), pl.col("b").str.contains("y\nz", literal=True)),
    (col("a") < 0, pl.col("a") < 0),
]


@pytest.mark.parametrize("batch_bytes", [1, 2, 7, 64, 1 << 20])
def test_batches_are_the_filtered_table(batch_bytes: int) -> None:
    whole = read_csv(TEXT)
    for condition, same in CONDITIONS:
        expected = whole.to_polars().filter(same).to_dict(as_series=False)
        scan = scan_csv(TEXT, batch_bytes=batch_bytes).where(condition)
        batches = list(scan.batches())
        assert {name: [value for batch in batches for value in batch[name].to_pylist()] for name in whole} == expected
        for report in (scan.report, *(batch.report for batch in batches)):
            report.check()
        assert scan.report.rows == sum(batch.report.rows for batch in batches) == len(expected["a"])
        assert scan.report.skipped.where == sum(batch.report.skipped.where for batch in batches) == 40 - len(expected["a"])
        assert scan_csv(TEXT, batch_bytes=batch_bytes).where(condition).read().to_pydict() == expected
        assert scan.schema == whole.schema


@pytest.mark.parametrize("strings", ["view", "dictionary"])
@pytest.mark.parametrize("batch_bytes", [7, 64, 1 << 20])
def test_texts_in_other_forms(strings: str, batch_bytes: int) -> None:
    whole = read_csv(TEXT, strings=strings)
    for condition, same in CONDITIONS:
        expected = read_csv(TEXT).to_polars().filter(same).to_dict(as_series=False)
        scan = scan_csv(TEXT, batch_bytes=batch_bytes, strings=strings).where(condition)
        batches = list(scan.batches())
        assert {name: [value for batch in batches for value in batch[name].to_pylist()] for name in whole} == expected
        assert all(batch.schema == whole.schema for batch in batches)
        for report in (scan.report, *(batch.report for batch in batches)):
            report.check()


def test_a_dictionary_has_the_texts_that_are_kept() -> None:
    scan = scan_csv(b"a,b\n1,x\n2,y\n3,z\n4,y\n", strings="dictionary").where(col("a") > 1)
    (batch,) = scan.batches()
    dictionary = batch["b"].dictionary
    assert dictionary is not None
    assert (dictionary.to_pylist(), batch["b"].to_pylist()) == (["y", "z"], ["y", "z", "y"])


def test_report_describes_the_rows_that_are_kept() -> None:
    scan = scan_csv(TEXT, batch_bytes=64).where(col("b").is_null() & (col("a") < 10))
    table = scan.read()
    assert table["a"].to_pylist() == [1, 4, 7]
    assert [column.nulls for column in table.report.columns] == [0, 3, 0]
    assert "41 records = 3 rows + 0 rejected + 38 skipped (1 header, 0 blank, 0 comment, 37 where)" in str(table.report)


def test_columns_of_the_condition_need_not_be_selected() -> None:
    condition = (col("a") > 35) & (col("c") < 3)
    for scan in (
        scan_csv(TEXT, batch_bytes=64).where(condition).select("b"),
        scan_csv(TEXT, batch_bytes=64).select(["b"]).where(col("a") > 35).where(col("c") < 3),
        scan_csv(TEXT, batch_bytes=64, columns=[1]).where(condition),
    ):
        assert scan.schema == {"b": "string"}
        assert scan.read().to_pydict() == {"b": ["x", None]}
        assert [column.name for column in scan.report.columns] == ["b"]
    assert scan_csv(TEXT).where(col("a") == 3).select([2, "a"]).read().to_pydict() == {"c": [3.5], "a": [3]}


def test_rejects_do_not_depend_on_the_condition() -> None:
    text = b"a,b\n1,2\nx,3\n5,y\n6,7\n"
    options = {"dtypes": {"a": int, "b": int}, "on_error": "reject", "batch_bytes": 4}
    whole, scan = scan_csv(text, **options), scan_csv(text, **options).where(col("a") > 5)
    found = scan.read()
    assert found.to_pydict() == {"a": [6], "b": [7]}
    assert found.rejects.to_pydict() == whole.read().rejects.to_pydict()
    found.report.check()
    assert (found.report.records, found.report.rows, found.report.rejected, found.report.skipped.where) == (5, 1, 2, 1)


def test_several_files_and_columns_of_paths(tmp_path: Path) -> None:
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "t.csv").write_bytes(b"a\n1\n2\n3\n")
    scan = scan_csv(str(tmp_path / "*" / "*.csv"), hive_partitioning=True).where((col("year") == 2024) & (col("a") != 2))
    assert scan.read().to_pydict() == {"a": [1, 3], "year": [2024, 2024]}
    scan.report.check()
    assert [(file.rows, file.skipped.where) for file in scan.report.files] == [(0, 3), (2, 1)]


def test_a_scan_with_a_condition_is_pickled_and_shown() -> None:
    scan = scan_csv(TEXT, batch_bytes=64).where(col("a").between(3, 5) & ~col("b").is_in(["x"]))
    copy = pickle.loads(pickle.dumps(scan))
    assert copy.read().to_pydict() == scan.read().to_pydict() == {"a": [5], "b": ["y\nz"], "c": [5.5]}
    assert "where: ((col('a') >= 3) & (col('a') <= 5))" in repr(scan)


def test_errors() -> None:
    with pytest.raises(UnknownColumnError, match="unknown column 'q'"):
        scan_csv(TEXT).where(col("q") > 1).read()
    with pytest.raises(UnknownColumnError, match="unknown column 'q'"):
        _ = scan_csv(b"a\n").where(col("q") > 1).schema
    with pytest.raises(OptionError, match="limit\\(\\) counts records of the text; call it before where"):
        scan_csv(TEXT).where(col("a") > 1).limit(3)
    with pytest.raises(OptionError, match="a condition on columns"):
        scan_csv(TEXT).where("a > 1")  # type: ignore[arg-type]
    assert scan_csv(TEXT).limit(5).where(col("a") > 3).read()["a"].to_pylist() == [4]


def test_sink(tmp_path: Path) -> None:
    scan = scan_csv(TEXT, batch_bytes=64).where(col("a") > 30)
    for suffix in (".parquet", ".arrow", ".csv", ".tsv", ".csv.gz"):
        assert scan.sink(tmp_path / f"t{suffix}").rows == 9
    expected = scan.read().to_polars()
    assert pl.read_parquet(tmp_path / "t.parquet").equals(expected)
    assert pl.read_ipc(tmp_path / "t.arrow").equals(expected)
    for name in ("t.csv", "t.tsv", "t.csv.gz"):
        assert headrace.read_csv(tmp_path / name, sep="\t" if "tsv" in name else ",").to_polars().equals(expected)
    batches: list[Table] = []
    assert scan.sink(batches.append) == scan.report
    assert np.concatenate([batch["a"].to_numpy() for batch in batches]).tolist() == list(range(31, 40))
    for wrong in ("t.nothing", 3):
        with pytest.raises(OptionError):
            scan.sink(tmp_path / wrong if isinstance(wrong, str) else wrong)  # type: ignore[arg-type]
