"""Compares appends in parts to stores with a key with one append of all rows, by each policy and kind of key."""

from __future__ import annotations

import threading

import pytest

from headrace import Context, OptionError, Store, Table, concat, scan_csv
from headrace.api.store.rows import TextParts
from tests.api.store.store_cases import seeded

SCHEMA = {"n": "int64", "t": "string", "v": "int32"}
KEYS = ["n", "t", ["n", "t"]]


def table_of(rows):
    """Return rows as a table."""
    import pyarrow as pa

    types = {"n": pa.int64(), "t": pa.string(), "v": pa.int32()}
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types.values(), strict=True)]
    return Table.from_arrow(pa.table(dict(zip(types, arrays, strict=True))))


def rows_of(store):
    return [tuple(row) for row in store.table().iter_rows()]


def keys_of(store, key):
    """Return the keys of all rows, in the form of a caller."""
    found = store.table([key] if isinstance(key, str) else key)
    return found[key].to_pylist() if isinstance(key, str) else [tuple(row) for row in found.iter_rows()]


def append_parts(store, tables):
    """Append tables as the parts of one change, as the parts of a long text are."""
    return store._opened.engine.append_parts(table.columns for table in tables)


def random_parts(draw, number):
    """Return the parts of a change: few keys, so that they come again in parts and in the store."""
    sizes = [draw.choice([0, 1, 3, 20]) for _ in range(draw.randrange(1, 6))]
    return [table_of([(draw.randrange(30), f"k{draw.randrange(4)}", 1000 * number + i) for i in range(size)]) for size in sizes]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("policy", ["raise", "replace", "keep"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
def test_parts_are_one_append(key, policy, seed, tmp_path, request):
    draw = seeded(request.node.name)
    whole = Store(schema=SCHEMA, key=key, on_duplicate=policy)
    store = Store(tmp_path / "s", schema=SCHEMA, key=key, on_duplicate=policy, sync="never")
    refused = 0
    for number in range(12):
        parts = random_parts(draw, number)
        try:
            expected = whole.append(concat(parts))
        except OptionError:
            refused += 1
            size = store.statistics
            with pytest.raises(OptionError, match="accepts such rows"):
                append_parts(store, parts)
            assert store.statistics == size
        else:
            assert append_parts(store, parts) == expected
        assert rows_of(store) == rows_of(whole)
        wanted = keys_of(whole, key)
        assert store.lookup(wanted).found.all()
        if number % 4 == 3:
            store.merge()
            assert store.delete(wanted[:1]) == whole.delete(wanted[:1])
        if number % 5 == 4:
            store.close()
            store = Store(tmp_path / "s", sync="never")
    assert refused > 0 or policy != "raise"
    store.close()


def test_rows_of_an_append_that_goes_on_are_not_seen(tmp_path):
    store = Store(tmp_path / "s", schema=SCHEMA, key="n", on_duplicate="replace")
    store.append(table_of([(1, "old", 0), (2, "old", 0)]))
    store.lookup(1)
    seen = []

    def look():
        seen.append((store.lookup([1, 2, 7]).rows["t"].to_pylist(), len(store.snapshot())))

    def parts():
        for rows in ([(1, "new", 1), (7, "new", 1)], [(7, "newer", 2)]):
            yield table_of(rows)  # the log writes these rows
            thread = threading.Thread(target=look)
            thread.start()
            thread.join(30)

    assert append_parts(store, parts()) == 2
    assert seen == [(["old", "old"], 2)] * 2
    assert store.lookup([1, 2, 7]).rows["t"].to_pylist() == ["new", "old", "newer"]
    store.close()


@pytest.mark.parametrize(("policy", "added"), [("replace", 5), ("keep", 4)])
def test_a_long_text_with_keys_counts_its_duplicates(policy, added, tmp_path):
    text = b"n,t,v\n1,a,1\n2,b,2\n1,c,3\n3,d,4\n2,e,5\n4,f,6\n9,g,7\n"
    with Store(tmp_path / "s", schema=SCHEMA, key="n", on_duplicate=policy) as store:
        store.append(b"n,t,v\n9,z,0\n")
        parts = TextParts(scan_csv(text, batch_bytes=8, dtypes=store.schema), store.schema, Context())
        found = parts.counted(store._opened.engine.append_parts(parts.columns()))
        assert (found, found.duplicates, found.report.rows) == (added, 7 - added, 7)
        expected = ["c", "d", "e", "f", "g"] if policy == "replace" else ["z", "a", "b", "d", "f"]
        assert store.table()["t"].to_pylist() == expected
    with Store(tmp_path / "s") as store:
        assert store.table()["t"].to_pylist() == expected
        store.merge()
        assert store.table()["t"].to_pylist() == expected
