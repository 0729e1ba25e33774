"""Compares stores with a model in Python over random histories, in memory and in a folder, and their SQL with DuckDB alone."""

from __future__ import annotations

import duckdb
import pytest

from headrace import Context, Store
from tests.api.store.store_cases import SCHEMA, Model, assert_equal, random_rows, rows_of, seeded, step, table_of


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("on_duplicate", ["raise", "replace", "keep"])
@pytest.mark.parametrize("place", ["memory", "folder"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 12))])
def test_histories(on_duplicate, place, seed, tmp_path, request):
    draw = seeded(request.node.name)
    path = None if place == "memory" else tmp_path / "store"
    context = Context(threads=draw.choice([1, 3]))
    model = Model(on_duplicate)
    store = Store(path, schema=SCHEMA, key="id", on_duplicate=on_duplicate, merge_bytes=None, context=context)
    snapshots = []
    for _ in range(40):
        step(draw, store, model)
        if draw.random() < 0.2:
            snapshots.append((store.snapshot(), list(model.rows)))
        if path is not None and draw.random() < 0.1:
            store.close()
            store = Store(path, merge_bytes=None)
        if draw.random() < 0.3:
            assert_equal(store, model)
    assert_equal(store, model)
    for snapshot, rows in snapshots:
        assert rows_of(snapshot.table()) == rows
        assert rows_of(snapshot.range(-1000, 1000)) == sorted(rows, key=lambda row: row[0])
        assert snapshot.lookup([row[0] for row in rows]).found.all()
    if path is not None:
        assert rows_of(Store(path, read_only=True).table()) == model.rows
    store.close()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))])
def test_histories_without_a_key(seed, tmp_path, request):
    draw = seeded(request.node.name)
    store, rows = Store(tmp_path, schema=SCHEMA, merge_rows=draw.choice([1, 7, 30])), []
    for _ in range(40):
        new = random_rows(draw, [draw.randrange(5) for _ in range(draw.randrange(9))])
        store.append(table_of(new))
        rows += new
    assert rows_of(store.table()) == rows
    store.close()
    assert rows_of(Store(tmp_path).table()) == rows


QUERIES = [
    "select count(*), count(city), min(price), max(day) from store",
    "select city, flag, count(*) as n from store group by all order by all",
    "select * from store where small > 100 order by id",
    "select a.id, b.id as other from store a join store b on a.small = b.small and a.id < b.id order by all",
    "select id from store where city = 'Rome' and price is not null and not flag order by id",
    "select a.city, count(*) from store a where a.small in (select small from store where price > 0) group by all order by all",
    "with s as (select * exclude (day) from store) select sum(small)::bigint, max(price) from s where city <> '' or flag",
    "select day, row_number() over (partition by city order by id) as n from store order by id",
]


@pytest.mark.parametrize("query", QUERIES)
def test_answers_of_sql_are_those_of_duckdb_alone(query, request):
    draw = seeded(request.node.name)
    rows = random_rows(draw, range(300))
    store = Store(schema=SCHEMA, key="id")
    for begin in range(0, 300, 70):
        store.append(table_of(rows[begin : begin + 70]))
        if begin == 140:
            store.merge()
    store.delete(list(range(10)))
    alone = table_of(rows[10:]).to_arrow()
    with duckdb.connect() as connection:
        connection.register("store", alone)
        expected = connection.sql(query).fetchall()
    assert rows_of(store.sql(query)) == expected
