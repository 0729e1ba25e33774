"""A model of a store: its rows in a list of Python, and random histories of both."""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass, field

import headrace
from headrace import col

SCHEMA = {"id": "int64", "city": "string", "price": "float64", "day": "date32", "flag": "bool", "small": "uint8"}
CITIES = ["Rome", "", "Oslo", "Zürich", None, "a" * 40, "Paris"]


@dataclass
class Model:
    """Rows in the order in which they were added, as tuples."""

    on_duplicate: str = "raise"
    rows: list = field(default_factory=list)

    def append(self, rows):
        if self.on_duplicate == "replace":
            rows = _first(rows[::-1], ())[::-1]
            new = {row[0] for row in rows}
            self.rows = [row for row in self.rows if row[0] not in new]
        elif self.on_duplicate == "keep":
            present = {row[0] for row in self.rows}
            rows = _first(rows, present)
        self.rows += rows

    def update(self, rows):
        new = {row[0]: row for row in rows}
        self.rows = [row for row in self.rows if row[0] not in new] + rows

    def delete(self, is_removed):
        self.rows = [row for row in self.rows if not is_removed(row)]


def _first(rows, present):
    found = {}
    for row in rows:
        if row[0] not in present:
            found.setdefault(row[0], row)
    return list(found.values())


def random_rows(draw, keys):
    """Return one row for each key."""
    return [
        (
            key,
            draw.choice(CITIES),
            draw.choice([None, -0.0, 0.0, 1.5, float("inf"), draw.random()]),
            draw.choice([None, datetime.date(1970, 1, 1) + datetime.timedelta(draw.randrange(-9999, 9999))]),
            draw.choice([None, True, False]),
            draw.randrange(256),
        )
        for key in keys
    ]


def table_of(rows):
    """Return rows as a table."""
    import pyarrow as pa

    types = [pa.int64(), pa.string(), pa.float64(), pa.date32(), pa.bool_(), pa.uint8()]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    return headrace.Table.from_arrow(pa.table(dict(zip(SCHEMA, arrays, strict=True))))


def rows_of(table):
    """Return the rows of a table as tuples."""
    return [tuple(row) for row in table.iter_rows()]


def step(draw, store, model):
    """Change a store and its model in the same way, once."""
    kind = draw.randrange(10)
    keys = [row[0] for row in model.rows]
    if kind < 4:
        fresh = draw.sample(range(-200, 200), draw.randrange(12))
        if model.on_duplicate == "raise":
            fresh = [key for key in fresh if key not in set(keys)]
        else:
            fresh += fresh[:2]
        rows = random_rows(draw, fresh)
        store.append(table_of(rows))
        model.append(rows)
    elif kind < 6 and keys:
        rows = random_rows(draw, draw.sample(keys, min(len(keys), draw.randrange(1, 5))))
        assert store.update(table_of(rows)) == len(rows)
        model.update(rows)
    elif kind == 6:
        gone = draw.sample(range(-200, 200), 20)
        assert store.delete(gone) == len(set(gone) & set(keys))
        model.delete(lambda row: row[0] in gone)
    elif kind == 7:
        bound = draw.randrange(256)
        store.delete((col("small") >= bound) & (col("city") == "Rome"))
        model.delete(lambda row: row[5] >= bound and row[1] == "Rome")
    elif kind == 8:
        store.merge()


def assert_equal(store, model):
    """Compare all reads of a store with its model."""
    assert len(store) == len(model.rows)
    assert rows_of(store.table()) == model.rows
    by_key = {row[0]: row for row in model.rows}
    wanted = [*list(by_key)[:7], 1000]
    found = store.lookup(wanted)
    assert found.found.tolist() == [key in by_key for key in wanted]
    assert rows_of(found.rows) == [by_key[key] for key in wanted if key in by_key]
    assert rows_of(store.range(-50, 60)) == [by_key[key] for key in sorted(by_key) if -50 <= key <= 60]


def seeded(name):
    """Return a random generator for a test's name."""
    return random.Random(name)
