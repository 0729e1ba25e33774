"""Compares stores whose key is a text or several columns with a dictionary in Python over random histories."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

import headrace
from headrace import OptionError, Store, col
from headrace.core.context import Context
from headrace.store.keys.key_rows import KeyRowIndex, KeyRows
from tests.api.store.store_cases import rows_of, seeded

SCHEMA = {"city": "string", "day": "date32", "small": "int8", "n": "int64"}
KEYS = {"text": "city", "texts": ["city", "day"], "numbers": ["small", "day"], "three": ["small", "city", "day"]}
CITIES = ["", "a", "ab", "Zürich", "x" * 30]
DAYS = [datetime.date(1969, 12, 31), datetime.date(2024, 2, 29)]
ARROW = pa.schema({"city": pa.string(), "day": pa.date32(), "small": pa.int8(), "n": pa.int64()})


def table_of(rows):
    return headrace.Table.from_arrow(pa.table(dict(zip(SCHEMA, zip(*rows, strict=True), strict=True)), schema=ARROW))


def random_row(draw):
    return (draw.choice(CITIES), draw.choice(DAYS), draw.choice([-128, 0, 127]), draw.randrange(10**9))


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("on_duplicate", ["raise", "replace", "keep"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_histories(key, on_duplicate, seed, tmp_path, request):
    draw, names = seeded(request.node.name), KEYS[key]
    places = [list(SCHEMA).index(name) for name in ([names] if isinstance(names, str) else names)]

    def key_of(row):
        return tuple(row[place] for place in places) if len(places) > 1 else row[places[0]]

    store, model = Store(tmp_path / "s", schema=SCHEMA, key=names, on_duplicate=on_duplicate, sync="never"), {}
    for _ in range(25):
        kind, rows = draw.randrange(6), [random_row(draw) for _ in range(draw.randrange(1, 7))]
        if kind < 3:
            if on_duplicate == "raise":
                rows = [row for row in {key_of(row): row for row in rows}.values() if key_of(row) not in model]
            if rows:
                store.append(table_of(rows))
            for row in rows:
                if on_duplicate == "replace":
                    model.pop(key_of(row), None)
                model.setdefault(key_of(row), row)
        elif kind == 3:
            gone = {key_of(row) for row in rows}
            assert store.delete([*gone, *gone]) == len(gone & set(model))
            model = {one: row for one, row in model.items() if one not in gone}
        elif kind == 4:
            rows = [row for row in {key_of(row): row for row in rows}.values() if key_of(row) in model]
            if rows:
                assert store.update(table_of(rows)) == len(rows)
            for row in rows:
                model.pop(key_of(row))
                model[key_of(row)] = row
        elif draw.random() < 0.5:
            store.merge()
        else:
            store.close()
            store = Store(tmp_path / "s", sync="never")
        assert rows_of(store.table()) == list(model.values())
        wanted = [key_of(random_row(draw)) for _ in range(5)]
        for reader in (store, store.snapshot()):
            found = reader.lookup(wanted)
            assert found.found.tolist() == [one in model for one in wanted]
            assert rows_of(found.rows) == [model[one] for one in wanted if one in model]
    assert store.key == names
    store.close()


@pytest.mark.parametrize("bits", [0, 1, 3, 64])
def test_rows_of_equal_hashes(bits, request):
    """A dictionary of Python takes the same keys; hashes of few bits are equal for most of them."""
    draw, context = seeded(request.node.name), Context(threads=1)
    table = table_of([(f"{i % 7}", DAYS[0], i // 7, i) for i in range(200)]).select("city", "small")
    keys = KeyRows.of(table.columns, context, bits)
    index, model = KeyRowIndex(lambda numbers: keys[numbers.astype("i8")].rows.columns, context), {}
    for _ in range(40):
        chosen = np.array(sorted(draw.sample(range(200), 20)))
        absent = np.array([number for number in chosen if number not in model], "i8")
        if draw.random() < 0.5:
            index.insert(keys[absent], absent.astype("u8"))
            model.update(dict.fromkeys(absent.tolist()))
        else:
            present = np.setdiff1d(chosen, absent)
            index.erase(keys[present], present.astype("u8"))
            model = {number: None for number in model if number not in set(present.tolist())}
        found = index.find(keys)
        assert found.found.tolist() == [number in model for number in range(200)]
        assert found.numbers[found.found].tolist() == sorted(model)
    assert len(KeyRows.of(table_of([random_row(draw)] * 9).columns, context, bits).first_places()) == 1


@pytest.mark.parametrize("key", ["n", "city"])
def test_keys_of_one_column_in_a_table(key):
    store = Store(schema={"n": "int64", "city": "string"}, key=key)
    rows = headrace.read_csv(b"n,city\n1,Rome\n2,Oslo\n3,Bonn\n")
    store.append(rows)
    for keys in (rows.select(key), rows.select(key).to_polars(), {key: rows[key]}):
        assert store.lookup(keys).rows.equals(rows)
    with pytest.raises(OptionError, match=rf"keys have the columns \['n', 'city'\], and the key has \['{key}'\]"):
        store.lookup(rows)
    assert store.delete(rows.head(2).select(key)) == 2 and store.table()["n"].to_pylist() == [3]


def test_keys_of_several_columns():
    store = Store(schema=SCHEMA, key=["city", "small"])
    store.append(b"city,day,small,n\nRome,2024-01-01,1,1\nRome,,2,2\n")
    with pytest.raises(OptionError, match=r"the key \('Rome', 2\) is in the store"):
        store.append(b"city,day,small,n\nRome,2024-01-01,2,1\n")
    with pytest.raises(OptionError, match=r"the key \('Oslo', 2\) is twice in the rows"):
        store.append(b"city,day,small,n\nOslo,,2,1\nOslo,,2,1\n")
    with pytest.raises(OptionError, match=r"no row has the key \('Oslo', 2\)"):
        store.update(b"city,small,n\nOslo,2,1\n")
    with pytest.raises(OptionError, match=r"the key of 1 row is null"):
        store.append(b"city,day,small,n\nOslo,,,1\n")
    with pytest.raises(OptionError, match=r"give a row the key \('Rome', 1\) of another row"):
        store.update(where=col("small") == 2, values={"small": 1})
    assert store.update(where=col("small") == 2, values={"small": 3}) == 1
    assert store.lookup(("Rome", 3)).rows["n"].to_pylist() == [2]
    assert store.lookup([("Rome", 300)]).found.tolist() == [False]
    table = store.table(["small", "city"])
    for keys in (table, table.to_polars(), table.to_pandas(), pa.table(table)):
        assert store.lookup(keys).found.tolist() == [True] * len(table)
    for keys in ("Rome", ["Rome"], [("Rome",)], [("Rome", "x")], [(1, 1)], [("Rome", None)], 5, store.table(["city"])):
        with pytest.raises(OptionError, match="keys"):
            store.lookup(keys)
    with pytest.raises(OptionError, match=r"keys have the columns \[1, 'city'\], and the key has \['city', 'small'\]"):
        store.lookup({1: [1], "city": ["Rome"]})
    for keys in ({"city": ["Rome"], "small": [1, 3]}, {"city": ["Rome", "Rome", "Rome"], "small": 1}):
        for call in (store.lookup, store.snapshot().lookup, store.delete):
            with pytest.raises(OptionError, match="keys have columns of different lengths"):
                call(keys)
    with pytest.raises(OptionError, match="keys of one column"):
        store.range(("Rome", 1), ("Rome", 2))


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ([], "key must be"),
        (["city", "city"], "key has a column twice"),
        (["city", "m"], "no column 'm'"),
        (["city", 1], "key must be"),
    ],
)
def test_keys_that_are_refused(key, message):
    with pytest.raises((OptionError, headrace.UnknownColumnError), match=message):
        Store(schema=SCHEMA, key=key)


def test_another_key_is_refused(tmp_path):
    Store(tmp_path / "s", schema=SCHEMA, key=["city", "day"]).close()
    Store(tmp_path / "s", key=("city", "day")).close()
    for key in ("city", ["day", "city"]):
        with pytest.raises(OptionError, match=r"has the key \['city', 'day'\], not"):
            Store(tmp_path / "s", key=key)


@pytest.mark.parametrize("place", ["delta", "main"])
def test_ranges_of_texts(place, request):
    draw = seeded(request.node.name)
    texts = ["", "a", "a\0", "a\0b", "aa", "b", "é", "\uffff", "\U00010000", "z" * 99, *(f"k{i:x}" for i in range(300))]
    draw.shuffle(texts)
    store = Store(schema={"t": "string", "n": "int64"}, key="t")
    store.append(pa.table({"t": texts, "n": range(len(texts))}))
    if place == "main":
        store.merge()
        store.delete(texts[:20])
        texts = texts[20:]
    for _ in range(40):
        low, high = draw.choice(texts), draw.choice([*texts, "\ud800"])
        assert store.range(low, high)["t"].to_pylist() == sorted(text for text in texts if low <= text <= high)
