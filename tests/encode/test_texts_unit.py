"""Tests ``strings=`` and given text types, up to the libraries that import the columns."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headrace import Context, MemoryLimitError, OptionError, Table, read_csv, write_csv

TEXT = b"city,note,n\nRome,a text of more than twelve bytes,1\nParis,,2\nRome,short,3\n,another text of many bytes,4\n"
CITIES = ["Rome", "Paris", "Rome", None]
NOTES = ["a text of more than twelve bytes", None, "short", "another text of many bytes"]


def types_of(table: Table) -> list[str]:
    return [str(kind) for kind in table.schema.values()]


def test_views() -> None:
    table = read_csv(TEXT, strings="view")
    assert types_of(table) == ["string_view", "string_view", "int64"]
    assert [str(column.type) for column in table.report.columns] == types_of(table)
    assert table.to_pydict() == {"city": CITIES, "note": NOTES, "n": [1, 2, 3, 4]}
    assert table["note"][1:3].to_pylist() == [None, "short"]
    assert table["note"].to_numpy().tolist() == NOTES


def test_views_leave_as_strings_unless_asked_for() -> None:
    table = read_csv(TEXT, strings="view")
    arrow = table.to_arrow()
    assert arrow.schema.types == [pa.string(), pa.string(), pa.int64()]
    assert arrow.filter(pc.equal(arrow["city"], "Rome"))["n"].to_pylist() == [1, 3]
    views = table.to_arrow(views=True)
    views.validate(full=True)
    assert views.schema.types == [pa.string_view(), pa.string_view(), pa.int64()]
    assert views["note"].to_pylist() == NOTES
    assert table.to_polars()["note"].to_list() == NOTES
    assert list(table.to_pandas()["city"].dropna()) == ["Rome", "Paris", "Rome"]


def test_compact_lets_go_of_the_rest() -> None:
    column = read_csv(TEXT, strings="view")["note"]
    part = column[1:3]
    assert sum(buffer.nbytes for buffer in part.data) > 0
    assert part.compact().data == ()
    assert part.compact().to_pylist() == [None, "short"]
    plain = read_csv(TEXT)["note"]
    assert plain.compact() is plain


def test_dictionaries() -> None:
    table = read_csv(TEXT, strings="dictionary")
    assert types_of(table) == ["dictionary[int32, string]", "dictionary[int32, string]", "int64"]
    city = table["city"]
    assert city.to_pylist() == CITIES
    assert city.dictionary is not None
    assert city.dictionary.to_pylist() == ["Rome", "Paris"]
    arrow = table.to_arrow()
    arrow.validate(full=True)
    assert arrow["city"].type == pa.dictionary(pa.int32(), pa.string())
    assert arrow["city"].to_pylist() == CITIES
    assert table.to_polars()["city"].dtype == pl.Categorical
    assert table.to_polars()["city"].to_list() == CITIES
    assert str(table.to_pandas()["city"].dtype) == "category"
    assert table["city"].to_numpy().tolist() == CITIES
    assert city[2:].to_pylist() == ["Rome", None]
    assert city[2] == "Rome"


@pytest.mark.parametrize(
    "given",
    [
        "category",
        "categorical",
        "dictionary",
        pa.dictionary(pa.int32(), pa.string()),
        pl.Categorical,
        "dictionary[int32, string]",
    ],
)
def test_given_dictionaries(given: object) -> None:
    table = read_csv(TEXT, dtypes={"city": given, 2: "string_view"}, strings="plain")
    assert types_of(table) == ["dictionary[int32, string]", "string", "string_view"]
    assert table["n"].to_pylist() == ["1", "2", "3", "4"]
    assert write_csv(table) == TEXT


def test_given_strings_stay_plain() -> None:
    assert types_of(read_csv(TEXT, strings="view", dtypes={"city": str})) == ["string", "string_view", "int64"]


@pytest.mark.parametrize("given", [pa.dictionary(pa.int8(), pa.string()), "dictionary[int32, int64]"])
def test_other_dictionaries_are_refused(given: object) -> None:
    with pytest.raises(OptionError, match="unknown type 'dictionary"):
        read_csv(TEXT, dtypes={"city": given})


def test_unknown_form() -> None:
    with pytest.raises(OptionError, match=r"unknown strings 'views'; did you mean 'view'\?"):
        read_csv(TEXT, strings="views")  # type: ignore[arg-type]


@pytest.mark.parametrize("strings", ["plain", "view", "dictionary"])
def test_written_and_read_again(strings: str, tmp_path: Path) -> None:
    table = read_csv(TEXT, strings=strings)  # type: ignore[arg-type]
    assert write_csv(table) == TEXT


@pytest.mark.parametrize("strings", ["view", "dictionary"])
def test_no_rows_and_only_nulls(strings: str) -> None:
    for text, values in ((b"a\n", []), (b"a\n\n\n", [None, None])):
        table = read_csv(text, header=True, strings=strings, skip_blank_lines=False)  # type: ignore[arg-type]
        assert table["a"].to_pylist() == values
        table.to_arrow().validate(full=True)


def test_several_files(tmp_path: Path) -> None:
    for name, text in (("k=x/1.csv", b"a,b\np,1\nq,2\n"), ("k=y/2.csv", b"a,b\nq,3\nr,4\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(text)
    table = read_csv(tmp_path, hive_partitioning=True, strings="dictionary", dtypes={"b": "string_view"})
    assert types_of(table) == ["dictionary[int32, string]", "string_view", "dictionary[int32, string]"]
    assert table.to_pydict() == {"a": ["p", "q", "q", "r"], "b": ["1", "2", "3", "4"], "k": ["x", "x", "y", "y"]}
    assert table["k"].dictionary is not None
    assert table["k"].dictionary.to_pylist() == ["x", "y"]


@pytest.mark.parametrize("strings", ["view", "dictionary"])
def test_no_memory_for_both_forms(strings: str) -> None:
    text = b"a\n" + b"".join(b"more than twelve bytes and %012d\n" % row for row in range(50_000))
    limit = 2_600_000
    with pytest.raises(MemoryLimitError):
        read_csv(text, strings=strings, context=Context(memory_limit=limit))  # type: ignore[arg-type]
    read_csv(text, strings="plain", context=Context(memory_limit=limit))
