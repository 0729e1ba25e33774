"""A query decodes the columns that it uses, and an error of a column is raised as it is."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from headrace import OptionError, Store, StoreSnapshot, col
from headrace.core.buffer import copy_of
from headrace.core.context import Context
from headrace.store.dictionary.encode import encode
from headrace.store.main import Main
from headrace.store.row_runs import RowRuns
from headrace.store.state import StoreState

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

DAMAGE = "a code is 3, and the dictionary has 3 values"


def damaged(names):
    """Return a snapshot of three rows; the codes of columns of these names have no value."""
    columns = {name: encode([10, 20, 30]) for name in ("a", "b", "c", "not", "x y")}
    for name in names:
        columns[name] = replace(columns[name], words=copy_of(b"\xff" * 8))
    schema = {name: column.type for name, column in columns.items()}
    return StoreSnapshot(StoreState(schema, Main(columns, RowRuns.of_runs([0], [3]))), None, Context(threads=1))


@pytest.mark.parametrize(
    ("query", "unused"),
    [
        ("select sum(a)::bigint as a from store", ["b", "c", "not", "x y"]),
        ("select a from store where b = 20 order by a", ["c", "not", "x y"]),
        ("select a from store where b = 20 and c > 1 or a is null", ["not", "x y"]),
        ('select "x y" from store where "not" > 10 and "not" < 30', ["a", "b", "c"]),
        ("select 1 as a", ["a", "b", "c", "not", "x y"]),
    ],
)
def test_columns_that_a_query_does_not_use_are_not_decoded(query, unused):
    assert damaged(unused).sql(query).to_pydict() == damaged([]).sql(query).to_pydict()


@pytest.mark.parametrize("query", ["select b from store", "select a from store where b > 10", "select * from store"])
def test_an_error_of_a_column_is_raised(query):
    with pytest.raises(OptionError, match=DAMAGE) as found:
        damaged(["b"]).sql(query)
    assert "DuckDB" not in str(found.value)


def test_names_that_differ_in_case():
    store = Store(schema={"a": "int64", "A": "string", 'q"': "int8"})
    store.append(b'a,A,"q"""\n1,x,3\n2,y,4\n')
    found = store.sql('select "A_1" as t from store where "q""" > 3')
    assert found["t"].to_pylist() == ["y"]


QUERIES = [
    "select few, count(*) as n, max(id) as id from store group by few order by few",
    "select many, count(*) as n from store where few > 'b' group by many order by many",
    "select count(*) as n from store where few = 'b' or many is null",
    "select a.id from store a join store b on a.few = b.many order by a.id",
]


@pytest.mark.parametrize("query", QUERIES)
def test_texts_of_few_and_of_many_values(query):
    """Few texts come as a dictionary, and those of main and delta differ; others are decoded."""
    import pyarrow as pa

    few, many = [*"abc", "", None], [*map(str, range(2000)), *"abc", None]
    rows = pa.table({"id": range(6000), "few": (few * 1200), "many": (many * 3)[:6000]})
    store = Store(schema={"id": "int64", "few": "string", "many": "large_string"}, key="id")
    store.append(rows.slice(0, 5000))
    store.merge()
    store.append(rows.slice(5000, 999))
    store.append(pa.table({"id": [5999], "few": ["new"], "many": ["b"]}))
    store.delete([0, 1, 2, 5001])
    with duckdb.connect() as connection:
        connection.register("store", store.table().to_arrow())
        expected = connection.sql(query).fetchall()
    assert list(store.sql(query).iter_rows()) == expected


def test_rows_are_only_in_the_delta():
    store = Store(schema={"s": "string"})
    assert store.sql("select count(*) as n, max(s) as s from store").to_pydict() == {"n": [0], "s": [None]}
    store.append(b"s\nx\ny\n")
    assert store.sql("select s from store where s > 'x'").to_pydict() == {"s": ["y"]}
    store.merge()
    store.delete(col("s") == "x")
    assert store.sql("select s from store").to_pydict() == {"s": ["y"]}


def test_a_query_leaves_nothing_for_the_next_one():
    stores = [Store(schema={"n": "int64"}) for _ in range(2)]
    for number, store in enumerate(stores):
        store.append(b"n\n%d\n" % number)
    statements = ["create table t as select 1; from t", "create temp table t as select 1; from t", "set threads = 1; select 1"]
    for statement in [*statements, "create or replace view store as select 7 as n; from store"]:
        assert len(stores[0].sql(statement)) == 1
    for number, store in enumerate(stores):
        found = store.sql("select n, current_setting('threads')::bigint as t from store").to_pydict()
        assert found == {"n": [number], "t": [Context().thread_count]}
        for name in ("t", "rows", "query"):  # neither a table of another query nor a variable
            with pytest.raises(OptionError, match=f"Table with name {name} does not exist"):
                store.sql(f"from {name}")


def test_queries_of_threads_and_of_forked_processes():
    stores = [Store(schema={"n": "int64"}, context=Context(threads=2)) for _ in range(4)]
    for number, store in enumerate(stores):
        store.append(b"n\n" + b"%d\n" % number * 1000)
    found = []

    def ask(number):
        query = "select min(n) as a, max(n) as b, count(*) as c from store"
        found.extend(stores[number].sql(query).to_pydict() for _ in range(20))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [{"a": [number], "b": [number], "c": [1000]} for number in range(4)]
    assert sorted(map(str, found)) == sorted(map(str, expected * 20))
    child = os.fork()
    if not child:
        ask(3)
        os._exit(0 if found[-1] == expected[3] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("message", ["Query interrupted", None])
def test_an_interrupt_of_a_query_is_raised_as_it_is(message, monkeypatch):
    """DuckDB has errors of its own in place of an interrupt, of its loop or of a call of the data set."""
    store = Store(schema={"n": "int64"})

    def interrupt(*_args, **_options):
        raise KeyboardInterrupt if message is None else RuntimeError(message)

    if message is None:
        monkeypatch.setattr("headrace.api.store.sql_rows.SqlRows.schema", property(interrupt))
    else:
        monkeypatch.setattr("headrace.api.store.sql_rows.Table.from_arrow", interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.sql("select n from store")
    monkeypatch.undo()
    assert store.sql("select count(*) as n from store").to_pylist() == [{"n": 0}]
    with pytest.raises(OptionError, match="KeyboardInterrupt"):
        store.sql("select KeyboardInterrupt from store")


@pytest.mark.parametrize(
    ("unit", "counts"),
    [
        ("s", [None, 0, 1000, -86_400, 1 << 39]),
        ("ms", [None, 0, 1000, -86_400_001, 1 << 53]),
        ("us", [None, 0, 1000, -86_400_000_001, 1 << 62]),
        ("ns", [None, 0, 1000, -86_400_000_001_000, 1000 << 52]),
    ],
)
def test_durations_are_exact(unit, counts):
    """DuckDB has intervals in their place, and those of Arrow wrap after 292 years."""
    table = pa.table({'a "b': pa.array(counts, pa.int64()).cast(pa.duration(unit)), "n": range(5)})
    store = Store(schema={'a "b': f"duration[{unit}]", "n": "int64"})
    store.append(table.slice(0, 3))
    store.merge()
    store.append(table.slice(3))
    found = pa.table(store.sql('select n, "a ""b", "a ""b" is null as c from store order by n')).column(1)
    assert found.combine_chunks() == pa.array(counts, pa.int64()).cast(pa.duration(unit)).cast(pa.duration("us"))
    assert store.sql("select timestamp '2020-01-03' - timestamp '2020-01-01' as a").to_pydict() == {"a": [timedelta(2)]}
    with pytest.raises(OptionError, match="interval with months"):
        store.sql("select interval 1 month as a")
