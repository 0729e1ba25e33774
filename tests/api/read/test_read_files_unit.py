"""Tests `read_csv` of several files: the files read, their order, and the columns."""

from __future__ import annotations

import datetime
import io
import pickle
from pathlib import Path
from typing import Any

import pytest

from headrace import Context, NoMatchError, OptionError, ParseError, Table, col, read_csv, scan_csv
from headrace.columns.finish.concat import SharedLoads
from headrace.sources.find_files import match_files, partition_keys


def read(source: object, **options: object) -> Table:
    table = read_csv(source, **options)  # type: ignore[arg-type]
    table.report.check()
    return table


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path, {"b.csv": "a,b\n3,z\n", "a.csv": "a,b\n1,x\n2,\n", "deep/er/c.csv": "a,b\n4,w\n", ".d.csv": "a,b\n9,h\n"}
    )


def test_list_in_its_order(folder: Path) -> None:
    table = read([folder / "b.csv", str(folder / "a.csv"), b"a,b\n7,v\n", io.BytesIO(b"a,b\n8,u\n")])
    assert table.to_pydict() == {"a": [3, 1, 2, 7, 8], "b": ["z", "x", None, "v", "u"]}
    assert [file.path for file in table.report.files] == [f"{folder}/b.csv", f"{folder}/a.csv", "<source 3>", "<source 4>"]
    assert [(file.bytes, file.records, file.rows) for file in table.report.files] == [(8, 2, 1), (11, 3, 2), (8, 2, 1), (8, 2, 1)]


def test_tuple_iterator_and_list_of_one(folder: Path) -> None:
    expected = [1, 2, 3]
    assert read((folder / "a.csv", folder / "b.csv"))["a"].to_pylist() == expected
    assert read(sorted(folder.glob("[ab].csv")))["a"].to_pylist() == expected
    assert read(path for path in sorted(folder.glob("[ab].csv")))["a"].to_pylist() == expected
    one = read([folder / "a.csv"])
    assert one["a"].to_pylist() == [1, 2]
    assert one.rejects.column_names[0] == "file"


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [
        ("*.csv", [1, 2, 3]),
        ("?.csv", [1, 2, 3]),
        ("[b-z].csv", [3]),
        ("**/*.csv", [1, 2, 3, 4]),
        ("**", [1, 2, 3, 4]),
        ("*/*/*.csv", [4]),
        ("**/er/c.csv", [4]),
        ("d*/**/*.csv", [4]),
        (".*.csv", [9]),
    ],
)
def test_patterns(folder: Path, pattern: str, rows: list[int]) -> None:
    assert read(f"{folder}/{pattern}")["a"].to_pylist() == rows
    assert read(folder / pattern)["a"].to_pylist() == rows
    assert read([f"{folder}/{pattern}", folder / "a.csv"])["a"].to_pylist() == [*rows, 1, 2]


def test_a_folder_is_read_without_hidden_files_and_those_of_unfinished_writes(tmp_path: Path) -> None:
    for name in (
        "k=1/part.csv",
        "k=2/part.csv",
        "_temporary/k=3/part.csv",
        "k=1/_attempt/part.csv",
        ".git/k=4/part.csv",
        "_SUCCESS",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a\n1\n")
    assert read(tmp_path, hive_partitioning=True).to_pydict() == {"a": [1, 1], "k": [1, 2]}


def test_columns_of_the_paths_and_the_row_index_are_selected_like_others(tmp_path: Path) -> None:
    write(tmp_path, {"year=2023/t.csv": "a,b\n1,2\n", "year=2024/t.csv": "a,b\n3,4\n"})
    options: dict[str, Any] = {"hive_partitioning": True, "include_file_paths": "from", "row_index_name": "n"}
    paths = [str(tmp_path / name) for name in ("year=2023/t.csv", "year=2024/t.csv")]
    whole = {"n": [0, 1], "a": [1, 3], "b": [2, 4], "year": [2023, 2024], "from": paths}
    assert read(tmp_path, **options).to_pydict() == whole
    for given, names in (
        (["year", "b"], ["n", "year", "b"]),
        (["b", "from", "n"], ["b", "from", "n"]),
        (["from", 0], ["n", "from", "a"]),
        ("year", ["n", "year"]),
        ({"b", "year"}, ["n", "b", "year"]),
        ({"from", "b", "n", "year"}, ["n", "b", "year", "from"]),
        (["b"], ["n", "b", "year", "from"]),
    ):
        table = read(tmp_path, columns=given, **options)  # a row index comes first unless it is placed
        assert list(table.to_pydict().items()) == [(name, whole[name]) for name in names]
        assert [one.name for one in table.report.columns] == [name for name in names if name != "n"]
        scan = scan_csv(tmp_path, batch_bytes=4, columns=given, **options)
        assert list(scan.read().to_pydict().items()) == list(table.to_pydict().items())
        assert list(scan.schema) == names
        for convert in ("all", "chosen"):
            chosen = scan.where(col("a") > 1, convert=convert)
            assert list(chosen.read().to_pydict().items()) == [(name, whole[name][1:]) for name in names]
    assert scan_csv(tmp_path, **options).where(col("year") < 2024).select("b").read()["b"].to_pylist() == [2]
    lazy = scan_csv(tmp_path, **options).to_polars()
    assert lazy.select("year", "n").collect().to_dict(as_series=False) == {"year": [2023, 2024], "n": [0, 1]}
    for given, names in ((["b", "n"], ["b", "n"]), ("n", ["n"]), (["a"], ["n", "a"]), ({"n", "b"}, ["n", "b"])):
        assert list(read(b"a,b\n1,2\n", columns=given, row_index_name="n").columns) == names
        assert list(scan_csv(b"a,b\n1,2\n", columns=given, row_index_name="n").read().columns) == names
    for source in (b"a,b\n1,2\n", [b"a,b\n1,2\n"]):
        for more in ({}, {"header": False, "names": ["a", "b"]}):
            with pytest.raises(OptionError, match="row_index_name='b' is the name of a column"):
                read(source, columns=["a", "b"], row_index_name="b", **more)
    for given, name in ((["n", "n"], "n"), (["year", "b", "year"], "year"), (["from", "from"], "from"), (["b", 1, "n"], "b")):
        with pytest.raises(OptionError, match=f"columns has '{name}' more than once"):
            read(tmp_path, columns=given, **options)
    one = scan_csv(b"a,b\n1,2\n", row_index_name="n").to_polars()
    assert one.select("n").collect().to_dict(as_series=False) == {"n": [0]}


def test_pattern_in_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert match_files("*.csv") == ["a.csv", "b.csv"]
    assert match_files("./**/*.csv") == ["./a.csv", "./b.csv", "./deep/er/c.csv"]
    assert match_files("deep/../*.csv") == ["deep/../a.csv", "deep/../b.csv"]


def test_a_path_that_exists_is_no_pattern(tmp_path: Path) -> None:
    write(tmp_path, {"[ab].csv": "a\n5\n", "a.csv": "a\n1\n"})
    table = read(tmp_path / "[ab].csv")
    assert table["a"].to_pylist() == [5]
    assert table.report.files == ()


def test_no_patterns(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"\*\.csv"):
        read(folder / "*.csv", glob=False)


def test_two_stars_follow_no_links(folder: Path) -> None:
    (folder / "deep/loop").symlink_to(folder, target_is_directory=True)
    assert len(match_files(f"{folder}/**/*.csv")) == 3
    assert match_files(f"{folder}/deep/loop/*.csv") == [f"{folder}/deep/loop/a.csv", f"{folder}/deep/loop/b.csv"]


def test_no_match_names_the_nearest_folder(folder: Path) -> None:
    with pytest.raises(NoMatchError) as caught:
        read(f"{folder}/deep/no/*.csv")
    assert str(caught.value) == (
        f"no file matches '{folder}/deep/no/*.csv'; the nearest folder that exists is '{folder}/deep', with 'er' in it"
    )
    assert isinstance(caught.value, FileNotFoundError)


def test_types_hold_for_all_files() -> None:
    table = read([b"n,s,e\n1,2024-01-01,\n", b"n,s,e\n-2,2024-01-01 10:00:00,\n", b"n,s,e\n0.5,,true\n"])
    assert {name: str(kind) for name, kind in table.schema.items()} == {"n": "float64", "s": "timestamp[us]", "e": "bool"}
    assert table["n"].to_pylist() == [1.0, -2.0, 0.5]
    assert table["s"].to_pylist() == [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 1, 10), None]
    assert table["e"].to_pylist() == [None, None, True]
    places = [column.evidence and (column.evidence.file, column.evidence.record) for column in table.report.columns]
    assert places == [("<source 3>", 1), ("<source 2>", 1), ("<source 3>", 1)]
    assert "n: float64 (<source 3>, record 1: '0.5'; 0 null)" in str(table.report)


def test_given_types() -> None:
    table = read([b"a,b\n1,2\n", b"a,b\n3,4\n"], dtypes={"a": "int8"}, schema=None)
    assert [str(kind) for kind in table.schema.values()] == ["int8", "int64"]
    assert table.report.passes == 1
    assert read([b"1,2\n", b"3,4\n"], schema=["int8", str]).to_pydict() == {"column_1": [1, 3], "column_2": ["2", "4"]}
    assert read([b"a,b\n1,2\n", b"a,b\n3,4\n"], schema={"b": int, "a": float}).to_pydict() == {"a": [1.0, 3.0], "b": [2, 4]}


def test_headers() -> None:
    """The first file decides whether there are headers; with names given, each file by itself."""
    assert read([b"a\n1\n", b"a\n"]).to_pydict() == {"a": [1]}
    assert read([b"1\n", b"x\n"]).to_pydict() == {"column_1": ["1", "x"]}
    assert read([b"a,b\nx,y\n", b"z,w\n"], names=["a", "b"]).to_pydict() == {"a": ["x", "z"], "b": ["y", "w"]}
    assert read([b"q,r\n1,2\n", b"s,t\n3,4\n"], names=["a", "b"], header=True).to_pydict() == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (b"a,c\n3,4\n", "column 2 is 'c' in <source 2> and 'b' in <source 1>; pass union_by_name=True"),
        (b"b,a\n3,4\n", "column 1 is 'b' in <source 2> and 'a' in <source 1>"),
        (b"a,b,c\n3,4,5\n", "<source 2> has 3 columns and <source 1> has 2: only <source 2> has 'c'"),
        (b"a\n3\n", "<source 2> has 1 columns and <source 1> has 2: only <source 1> has 'b'"),
    ],
)
def test_files_of_other_columns(second: bytes, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read([b"a,b\n1,2\n", second])
    assert message in str(caught.value)


def test_union_by_name() -> None:
    table = read([b"a,b\n1,x\n", b"c,a\n0.5,2\n\n", b"", b"b,a,d\ny,3,\n"], union_by_name=True, shrink=True)
    assert table.to_pydict() == {"a": [1, 2, 3], "b": ["x", None, "y"], "c": [None, 0.5, None], "d": [None, None, None]}
    assert [str(kind) for kind in table.schema.values()] == ["int8", "string", "float32", "string"]
    assert [column.nulls for column in table.report.columns] == [0, 1, 2, 3]
    given = read([b"a\n1\n", b"b\n2\n"], union_by_name=True, schema={"a": "int8", "b": "uint8"})
    assert [str(kind) for kind in given.schema.values()] == ["int8", "uint8"]
    assert read(b"a\n1\n", union_by_name=True).to_pydict() == {"a": [1]}


def test_forms_of_single_columns(tmp_path: Path) -> None:
    """Formats of dates and texts for null by column: a file may lack the column, or have it elsewhere."""
    files = {"day=1.2.2024/a.csv": "x,d\n0,3.2.2024\n", "day=NA/b.csv": "d,x\n0,NA\n", "day=4.2.2024/c.csv": "y\n0\n"}
    write(tmp_path, files)
    forms: dict[str, Any] = {"date_format": {"d": "%d.%m.%Y", "y": "%d.%m.%y"}, "null_values": {"d": "0", "x": "NA"}}
    table = read(tmp_path / "**/*.csv", union_by_name=True, include_file_paths="from", **forms)
    assert {name: table[name].to_pylist() for name in "xdy"} == {
        "x": [0, None, None], "d": [datetime.date(2024, 2, 3), None, None], "y": [None, 0, None]
    }  # fmt: skip
    assert table["day"].to_pylist() == ["1.2.2024", "4.2.2024", "NA"]
    only = read(tmp_path / "day=[14]*/*.csv", union_by_name=True, date_format={"day": "%d.%m.%Y", "d": "%d.%m.%Y"})
    assert only["day"].to_pylist() == [datetime.date(2024, 2, 1), datetime.date(2024, 2, 4)]
    with pytest.raises(OptionError, match="unknown column in null_values 'day'"):
        read(tmp_path / "**/*.csv", union_by_name=True, null_values={"day": "NA"})
    with pytest.raises(OptionError, match="unknown column in date_format 'z'"):
        read(tmp_path / "**/*.csv", union_by_name=True, date_format={"z": "%d.%m.%Y"})


def test_union_keeps_names_that_had_to_change() -> None:
    table = read([b"a,b\n1,2\n", b"b,b\n3,4\n"], union_by_name=True)
    assert table.to_pydict() == {"a": [1, None], "b": [2, 3], "b_1": [None, 4]}
    assert dict(table.report.renamed) == {"<source 2>: 2: 'b'": "b_1"}


def test_paths(folder: Path) -> None:
    table = read(folder / "*.csv", include_file_paths="from")
    assert table.column_names == ["a", "b", "from"]
    assert table["from"].to_pylist() == [f"{folder}/a.csv"] * 2 + [f"{folder}/b.csv"]
    assert read(folder / "a.csv", filename="f")["f"].to_pylist() == [f"{folder}/a.csv"] * 2
    assert read(folder / "a.csv", filename=True).column_names == ["a", "b", "filename"]
    assert read([b"a\n1\n"], include_file_paths="f")["f"].to_pylist() == ["<source 1>"]


HIVE = {
    "year=2023/month=1/x.csv": "v\n1\n",
    "year=2023/month=12/x.csv": "v\n2\n3\n",
    "year=2024/month=__HIVE_DEFAULT_PARTITION__/x.csv": "v\n4\n",
}


def test_partitions(tmp_path: Path) -> None:
    write(tmp_path, HIVE)
    expected = {"v": [1, 2, 3, 4], "year": [2023, 2023, 2023, 2024], "month": [1, 12, 12, None]}
    table = read(tmp_path / "**/*.csv")
    assert table.to_pydict() == expected
    assert [str(kind) for kind in table.schema.values()] == ["int64"] * 3
    year = table.report.columns[1]
    assert year.evidence is not None
    assert (year.evidence.file, year.evidence.record, year.evidence.text) == (f"{tmp_path}/year=2023/month=1/x.csv", 0, b"2023")
    assert read(tmp_path, hive_partitioning=True).to_pydict() == expected
    assert read(tmp_path / "*/*/*.csv", hive_partitioning=False).column_names == ["v"]
    small = read(tmp_path / "**/*.csv", shrink=True, include_file_paths="path")
    assert [str(kind) for kind in small.schema.values()] == ["int8", "int16", "int8", "string"]


@pytest.mark.parametrize("option", [{"union_by_name": True}, {"include_missing_columns": True}, {"include_file_paths": "path"}])
def test_the_folders_of_one_path_are_no_columns_unless_asked_for(tmp_path: Path, option: dict[str, Any]) -> None:
    path = write(tmp_path, HIVE) / "year=2023/month=1/x.csv"
    names = ["v", *option.values()] if "include_file_paths" in option else ["v"]
    assert read(path).column_names == ["v"]
    assert read(path, **option).column_names == scan_csv(path, **option).read().column_names == names
    assert read([path], **option).column_names == ["v", "year", "month", *names[1:]]
    assert read(path, hive_partitioning=True, **option).column_names == ["v", "year", "month", *names[1:]]


def test_types_of_partitions(tmp_path: Path) -> None:
    write(tmp_path, HIVE)
    table = read(tmp_path / "**/*.csv", dtypes={"year": str, "month": "int8", "v": float})
    assert table["year"].to_pylist() == ["2023", "2023", "2023", "2024"]
    assert [str(kind) for kind in table.schema.values()] == ["float64", "string", "int8"]
    table = read(tmp_path / "**/*.csv", schema={"v": "int8", "year": "int16"})
    assert [str(kind) for kind in table.schema.values()] == ["int8", "int16", "int64"]
    with pytest.raises(OptionError, match="'year' in a path is '2023', which is not of type date32"):
        read(tmp_path / "**/*.csv", dtypes={"year": "date32"})


def test_values_of_partitions(tmp_path: Path) -> None:
    names = ["k=New%20York/d=2024-02-29", 'k=a"b,c/d=2024-03-01', "k=/d=2024-03-01", "k=x=y/d=2024-03-01"]
    write(tmp_path, {f"{name}/f.csv": "v\n1\n" for name in names})
    table = read([tmp_path / name / "f.csv" for name in names])
    assert table["k"].to_pylist() == ["New York", 'a"b,c', None, "x=y"]
    assert str(table["d"].type) == "date32"


def test_partitions_that_differ(tmp_path: Path) -> None:
    write(tmp_path, {"a=1/f.csv": "v\n1\n", "b=1/f.csv": "v\n2\n", "f.csv": "v\n3\n"})
    assert read(tmp_path / "**/*.csv").column_names == ["v"]
    with pytest.raises(OptionError, match=r"b=1/f\.csv' has the keys b, and '.*/a=1/f\.csv' has a"):
        read(tmp_path / "*/*.csv", hive_partitioning=True)
    with pytest.raises(OptionError, match="has no folder such as year=2024"):
        read(tmp_path / "f.csv", hive_partitioning=True)


def test_a_partition_that_is_a_column(tmp_path: Path) -> None:
    write(tmp_path, {"v=1/f.csv": "v\n7\n", "v=2/f.csv": "v\n8\n"})
    assert read(tmp_path / "*/*.csv", dtypes={"v": "int8"}).to_pydict() == {"v": [7, 8]}
    with pytest.raises(OptionError, match="hive_partitioning=False"):
        read(tmp_path / "*/*.csv", hive_partitioning=True)


def test_partition_keys_of_a_path() -> None:
    assert partition_keys("/d/a=1/x/b=%3D/f=3.csv") == {"a": "1", "b": "="}
    assert partition_keys("f.csv") == {}


def test_rejects_name_the_file() -> None:
    table = read([b"a,b\n1,2\n", b"a,b\nx,3\n4\n", b"a,b\n5,y\n"], dtypes=int, on_error="reject")
    assert table.to_pydict() == {"a": [1], "b": [2]}
    rejects = table.rejects.to_pydict()
    assert rejects["file"] == ["<source 2>", "<source 2>", "<source 3>"]
    assert (rejects["record"], rejects["kind"]) == ([1, 2, 1], ["type", "too_few_fields", "type"])
    assert [(file.rows, file.rejected) for file in table.report.files] == [(1, 0), (0, 2), (0, 1)]
    clean = read([b"a\n1\n", b"a\n2\n"]).rejects
    assert (clean.column_names[0], clean.num_rows) == ("file", 0)
    assert "file" not in read(b"a\n1\n").rejects.column_names


def test_error_names_the_file() -> None:
    with pytest.raises(ParseError, match=r"^<source 2>: record 1 \(line 2, byte 2\)") as caught:
        read([b"a\n1\n", b"a\nx\n"], dtypes=int)
    assert caught.value.source == "<source 2>"
    assert pickle.loads(pickle.dumps(caught.value)).source == "<source 2>"


def test_counts_add_up() -> None:
    table = read([b"#c\na\n1\n\n", b"", b"#only\n", b"a\n"], comment="#")
    report = table.report
    assert (report.records, report.rows, report.skipped.header, report.skipped.blank, report.skipped.comment) == (6, 1, 2, 1, 2)
    assert [file.skipped.total for file in report.files] == [3, 0, 1, 1]
    assert str(report).startswith("4 files\n")


NUMBERED = [b"skip me\na,b\n1,x\n2,y\n", b"skip me\na,b\n3,z\n4,w\n5,v\n"]


def test_rows_left_out_of_each_file() -> None:
    table = read(NUMBERED, skip_rows=1, skip_rows_after_header=1, skip_footer=1)
    assert table.to_pydict() == {"a": [4], "b": ["w"]}
    assert [(file.skipped.preamble, file.skipped.rows, file.skipped.footer) for file in table.report.files] == [(1, 1, 1)] * 2
    assert table.report.skipped.footer == 2


@pytest.mark.parametrize("n_rows", range(7))
def test_limit_is_of_all_files(n_rows: int) -> None:
    table = read(NUMBERED, skip_rows=1, n_rows=n_rows)
    assert table["a"].to_pylist() == [1, 2, 3, 4, 5][:n_rows]
    assert (table.report.unread_bytes > 0) == (n_rows < 5)


def test_row_index_goes_on() -> None:
    table = read([b"a\n1\nx\n", b"a\n2\n"], row_index_name="row", row_index_offset=10, dtypes=int, on_error="reject")
    assert table.to_pydict() == {"row": [10, 12], "a": [1, 2]}
    with pytest.raises(OptionError, match="row_index_name='f'"):
        read([b"a\n1\n"], row_index_name="f", include_file_paths="f")


def test_projection() -> None:
    assert read([b"a,b,c\n1,x,3\n", b"a,b,c\n4,y,6\n"], columns=["c", "a"]).to_pydict() == {"c": [3, 6], "a": [1, 4]}
    united = read([b"a,b\n1,x\n", b"c,a\n2,3\n"], union_by_name=True, columns=["c", "b"], shrink=True)
    assert united.to_pydict() == {"c": [None, 2], "b": ["x", None]}
    assert [column.name for column in united.report.columns] == ["c", "b"]


def test_long_records() -> None:
    files = [b"a,b\n1,2\n", b"a,b\n3,4,5,6\n", b"a,b\n7,8,9\n"]
    assert read(files, long_records="widen").to_pydict() == {
        "a": [1, 3, 7],
        "b": [2, 4, 8],
        "column_3": [None, 5, 9],
        "column_4": [None, 6, None],
    }
    collected = read(files, long_records="collect")
    assert collected["extra_fields"].to_pylist() == [None, "5,6", "9"]
    united = read([b"a\n1,2\n", b"b\n3\n"], long_records="collect", union_by_name=True)
    assert united.to_pydict() == {"a": [1, None], "b": [None, 3], "extra_fields": ["2", None]}


def test_short_records() -> None:
    table = read([b"a,b\n1\n", b"a,b\n2,3\n4\n"], short_records="null")
    assert (table.to_pydict(), table.report.filled) == ({"a": [1, 2, 4], "b": [None, 3, None]}, 2)


def test_records_of_names() -> None:
    files = [b"x,y\nkm,s\n1,2\n", b"x,y\nkm,s\n3,4\n"]
    assert read(files, header=[0, 1]).to_pydict() == {"x_km": [1, 3], "y_s": [2, 4]}
    with pytest.raises(OptionError, match="column 2 is 'y_m' in <source 2> and 'y_s' in <source 1>"):
        read([files[0], b"x,y\nkm,m\n3,4\n"], header=[0, 1])


def test_a_time_zone_in_several_files():
    zone = "timestamp[ms, Europe/Paris]"
    one = read(b"t\n2020-01-01T00:00:00Z\n", dtypes={"t": zone})
    table = read([b"t\n2020-01-01T00:00:00Z\n"] * 2, dtypes={"t": zone})
    assert table.schema == {"t": zone}
    assert table["t"].to_pylist() == one["t"].to_pylist() * 2


def test_a_slice_is_not_concatenated():
    column = read(b"n\n1\n2\n")["n"]
    loads = SharedLoads.of(1, Context())
    assert loads.join([column[:1], column], column.type)[0].to_pylist() == [1, 1, 2]
    for part in (column[1:], (column[1:], 0, 2)):
        with pytest.raises(OptionError, match="a column begins at row 1 of its buffers"):
            loads.join([part], column.type)
