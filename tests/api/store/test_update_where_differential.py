"""Compares updates by condition with a list of rows in Python, before and after merges and in folders that are opened again."""

from __future__ import annotations

import datetime

import pytest

from headrace import Store, col
from tests.api.store.store_cases import SCHEMA, Model, assert_equal, random_rows, rows_of, seeded, step, table_of

NAMES = list(SCHEMA)


def is_less(column, bound):
    return lambda row: row[NAMES.index(column)] is not None and row[NAMES.index(column)] < bound


def twice(price):
    return None if price is None else price * 2 - 1


CONDITIONS = {
    "some": (col("small") < 128, is_less("small", 128)),
    "few": ((col("city") == "Rome") & (col("small") < 60), lambda row: row[1] == "Rome" and row[5] < 60),
    "nulls": (col("flag").is_null(), lambda row: row[4] is None),
    "not null": (~(col("price") > 0.2), lambda row: row[2] is not None and not row[2] > 0.2),
    "none": (col("id") > 10_000, lambda row: False),
    "all": (col("id") > -10_000, lambda row: True),
}
VALUES = {
    "literals": (
        {"city": "Lima", "price": 3, "day": "2024-02-29", "flag": True, "small": 255},
        lambda row: (row[0], "Lima", 3.0, datetime.date(2024, 2, 29), True, 255),
    ),
    "nulls": (dict.fromkeys(NAMES[1:5]), lambda row: (row[0], None, None, None, None, row[5])),
    "old values": (
        {"small": col("small") // 2, "price": col("small") + 0.5, "flag": col("small") > 99},
        lambda row: (row[0], row[1], row[5] + 0.5, row[3], row[5] > 99, row[5] // 2),
    ),
    "columns": ({"city": col("city"), "price": col("small")}, lambda row: (row[0], row[1], float(row[5]), *row[3:])),
    "keys": ({"id": col("id") + 1000}, lambda row: (row[0] + 1000, *row[1:])),
    "conditions with nulls": (
        {"flag": col("city") == "Oslo", "price": col("price") * 2 - 1},
        lambda row: (row[0], row[1], twice(row[2]), row[3], None if row[1] is None else row[1] == "Oslo", row[5]),
    ),
}


def update(store, model, condition, values):
    expression, is_true = CONDITIONS[condition]
    assigned, changed = VALUES[values]
    chosen = [row for row in model.rows if is_true(row)]
    assert store.update(where=expression, values=assigned) == len(chosen)
    model.rows = [row for row in model.rows if not is_true(row)] + [changed(row) for row in chosen]


@pytest.mark.parametrize("place", ["memory", "folder"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_histories(place, seed, tmp_path, request):
    draw = seeded(request.node.name)
    path = None if place == "memory" else tmp_path / "store"
    store, model = Store(path, schema=SCHEMA, key="id", merge_bytes=None, sync="never"), Model()
    rows = random_rows(draw, range(-30, 30))
    store.append(table_of(rows))
    model.append(rows)
    for _ in range(25):
        if draw.random() < 0.5:
            step(draw, store, model)
        else:
            values = draw.choice([name for name in VALUES if name != "keys" or max(row[0] for row in model.rows) < 800])
            update(store, model, draw.choice(list(CONDITIONS)), values)
        if path is not None and draw.random() < 0.2:
            store.close()
            store = Store(path, merge_bytes=None, sync="never")
        assert_equal(store, model)
    store.close()


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("is_merged", [False, True])
def test_each_kind_of_value(values, is_merged, tmp_path, request):
    rows = random_rows(seeded(request.node.name), range(100))
    with Store(tmp_path / "s", schema=SCHEMA, key="id") as store:
        store.append(table_of(rows))
        if is_merged:
            store.merge()
        model = Model(rows=rows)
        update(store, model, "some", values)
        assert_equal(store, model)
    with Store(tmp_path / "s") as store:
        assert_equal(store, model)
        store.merge()
        assert_equal(store, model)
    assert rows_of(Store(tmp_path / "s", read_only=True).table()) == model.rows
