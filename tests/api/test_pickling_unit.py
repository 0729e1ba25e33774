"""Tables and columns as pickles: the same values, in every protocol, and no more bytes than the rows at hand."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pytest

import headrace
from headrace import Column, Table

KINDS = {
    "bool": "true",
    "int8": "-7",
    "uint64": "18446744073709551615",
    "float32": "1.5",
    "float64": "1e300",
    "date32": "2024-02-29",
    "timestamp[ns, Europe/Berlin]": "2024-02-29 10:00:00.000000001",
    "time32[s]": "10:00:01",
    "duration[us]": "1 day",
    "decimal128(12, 2)": "-1.25",
    "string": "é and more than twelve bytes",
    "large_string": "x",
    "string_view": "é and more than twelve bytes",
    "binary": "abc",
    "dictionary[int32, string]": "one",
    "null": "",
}


def table_of(kind: str) -> Table:
    """21 rows: nulls, the kind's value, and for texts different ones."""
    texts = kind.startswith(("string", "large_string", "binary", "dictionary"))
    values = [KINDS[kind] + (str(row % 5) if texts else "") if row % 3 else "" for row in range(21)]
    text = "a,b\n" + "".join(f"{row},{value}\n" for row, value in enumerate(values))
    return headrace.read_csv(text.encode(), dtypes={"b": kind})


@pytest.fixture(params=KINDS)
def column(request: pytest.FixtureRequest) -> Column:
    return table_of(request.param)["b"]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_column_comes_back(column: Column, protocol: int) -> None:
    again = pickle.loads(pickle.dumps(column, protocol))
    assert (again.type, again.null_count, again.to_pylist()) == (column.type, column.null_count, column.to_pylist())
    pa.array(again).validate(full=True)


def test_every_part_comes_back(column: Column) -> None:
    for start in range(len(column) + 1):
        for stop in (start, start + 1, start + 9, len(column)):
            part = column[start:stop]
            again = pickle.loads(pickle.dumps(part))
            assert (again.null_count, again.to_pylist()) == (part.null_count, part.to_pylist())
            pa.array(again).validate(full=True)


def test_buffers_travel_beside_the_pickle(column: Column) -> None:
    beside: list[pickle.PickleBuffer] = []
    head = pickle.dumps(column, 5, buffer_callback=beside.append)
    assert pickle.loads(head, buffers=beside).to_pylist() == column.to_pylist()
    assert beside


@pytest.mark.parametrize("kind", ["int64", "string", "string_view"])
def test_a_part_takes_its_own_rows_along_only(kind: str) -> None:
    text = "a\n" + "".join(f"{10**15 + row}\n" for row in range(10_000))
    whole = headrace.read_csv(text.encode(), dtypes=kind)["a"]
    assert len(pickle.dumps(whole)) > 80_000
    assert len(pickle.dumps(whole[5_000:5_010])) < 1_500


def test_a_table_comes_back_with_rejects_and_report() -> None:
    table = headrace.read_csv(b"a,a\n1,x\n2\n3,y\n", on_error="reject")
    again = pickle.loads(pickle.dumps(table))
    assert again.to_pydict() == table.to_pydict() == {"a": [1, 3], "a_1": ["x", "y"]}
    assert again.rejects.to_pydict() == table.rejects.to_pydict()
    assert again.report == table.report
    assert again.report.renamed


def _doubled(table: Table) -> list[int]:
    return [value * 2 for value in table["a"]]


def test_a_table_goes_to_another_process() -> None:
    table = headrace.read_csv(b"a\n1\n2\n")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(_doubled, table[1:]).result(timeout=60) == [4]


def test_a_copy_of_a_column_is_the_column(column: Column) -> None:
    assert copy.copy(column) is column
    assert copy.deepcopy(column).to_pylist() == column.to_pylist()
