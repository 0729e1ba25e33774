"""Tests the calls of a store on small tables."""

from __future__ import annotations

import datetime
import io
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace
from headrace import HashMap, OptionError, SortedMap, Store, col

CITIES = b"city,founded\nRome,-753\nOslo,1048\n"
SCHEMA = {"city": "string", "founded": "int64"}


def cities(**options):
    store = Store(schema=SCHEMA, **options)
    store.append(CITIES)
    return store


@pytest.mark.parametrize(
    "rows",
    [
        CITIES,
        io.BytesIO(CITIES),
        b"founded,city\n-753,Rome\n1048,Oslo\n",
        headrace.read_csv(CITIES),
        headrace.read_csv(CITIES, strings="view"),
        headrace.read_csv(CITIES, strings="dictionary"),
        pa.table({"founded": [-753, 1048], "city": pa.array(["Rome", "Oslo"], pa.large_string())}),
        pl.DataFrame({"city": ["Rome", "Oslo"], "founded": [-753, 1048]}),
    ],
    ids=["bytes", "file", "other order", "table", "views", "dictionary", "arrow", "polars"],
)
def test_rows_of_any_kind(rows):
    store = Store(schema=SCHEMA)
    assert store.append(rows) == 2
    assert store.merge()
    assert store.table().to_pydict() == {"city": ["Rome", "Oslo"], "founded": [-753, 1048]}
    assert dict(store.table().schema) == dict(store.schema)


def test_bytes_of_polars():
    store = Store(schema={"x": "binary"})
    assert store.append(pl.DataFrame({"x": [b"a", None, b"bytes of more than twelve"]})) == 3
    assert store.append(store.to_polars()[1:]) == 2
    store.merge()
    assert store.table()["x"].to_pylist() == [b"a", *[None, b"bytes of more than twelve"] * 2]


def test_slices_of_a_table(tmp_path):
    table = headrace.read_csv(b"city,founded\nRome,-753\n,1\nOslo,\nBonn,11\n", dtypes=SCHEMA)
    with Store(tmp_path / "s", schema=SCHEMA) as store:
        store.append(table[1:3])
        store.append(table[3:])
        store.merge()
        store.append(table[:2])
    with Store(tmp_path / "s") as store:
        assert store.table().to_pydict() == {"city": [None, "Oslo", "Bonn", "Rome", None], "founded": [1, None, 11, -753, 1]}


def test_a_time_zone_is_kept(tmp_path):
    zone = "timestamp[ms, Europe/Paris]"
    rows = headrace.read_csv(b"t\n2020-07-01T00:00:00Z\n2021-01-01T00:00:00Z\n", dtypes={"t": zone})
    with Store(tmp_path / "s", schema={"t": zone}) as store:
        store.append(rows)
        store.append(rows[1:])
        assert store.schema == store.table().schema == {"t": zone}
        assert store.merge()
        store.append(rows)
    with Store(tmp_path / "s") as store:
        assert store.table().schema == {"t": zone}
        moments = rows["t"].to_pylist()
        assert store.table()["t"].to_pylist() == moments + moments[1:] + moments


def test_options_of_raw_text(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"Rome\t-753\nOslo\tx\n")
    store = Store(schema=SCHEMA)
    assert store.append(tmp_path / "a.tsv", header=False, sep="\t", on_error="null") == 2
    assert store.table()["founded"].to_pylist() == [-753, None]


def test_a_scan_is_ingested_batch_by_batch():
    text = b"n\n" + b"".join(b"%d\n" % i for i in range(10_000))
    store = Store(schema={"n": "int64"}, merge_rows=3000)
    assert store.ingest(headrace.scan_csv(text, batch_bytes=4000)) == 10_000
    assert store.table()["n"].to_pylist() == list(range(10_000))
    store.close()
    assert store.statistics.merges >= 1


def test_duplicates_by_policy():
    rows = b"city,founded\nOslo,1\nBonn,2\nBonn,3\n"
    with pytest.raises(headrace.OptionError, match="the key 'Oslo' is in the store; on_duplicate="):
        cities(key="city").append(rows)
    store = cities(key="city", on_duplicate="replace")
    assert store.append(rows) == 2
    assert store.table().to_pydict() == {"city": ["Rome", "Oslo", "Bonn"], "founded": [-753, 1, 3]}
    store = cities(key="city", on_duplicate="keep")
    assert store.append(rows) == 1
    assert store.table().to_pydict() == {"city": ["Rome", "Oslo", "Bonn"], "founded": [-753, 1048, 2]}


def test_a_key_that_is_twice_in_the_rows():
    store = Store(schema={"n": "int32"}, key="n")
    with pytest.raises(headrace.OptionError, match="the key 5 is twice in the rows"):
        store.append(b"n\n4\n5\n5\n")
    assert len(store) == 0


@pytest.mark.parametrize(
    ("type_", "texts", "keys", "absent"),
    [
        ("uint64", ["18446744073709551615", "0"], [2**64 - 1, 0], 7),
        ("int8", ["-128", "127"], [-128, 127], 5),
        ("date32", ["2024-02-29", "1969-12-31"], [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)], datetime.date.max),
        ("timestamp[ms]", ["2024-02-29T10:00:00", "1969-01-01"], np.array(["2024-02-29T10", "1969-01-01"], "M8[s]"), None),
        ("string", ["Zürich", "x"], ["Zürich", "x"], "y"),
        ("large_string", ["b", "a"], ["b", "a"], "y"),
    ],
)
def test_keys_of_each_type(type_, texts, keys, absent):
    store = Store(schema={"k": type_}, key="k")
    store.append(("k\n" + "\n".join(texts) + "\n").encode())
    store.merge()
    found = store.lookup(keys)
    assert found.found.tolist() == [True, True]
    assert store.lookup(store.table()["k"]).found.all()
    if absent is not None:
        assert store.lookup(absent).found.tolist() == [False]
    assert len(store.range(min(keys), max(keys))) == 2
    assert store.snapshot().lookup(keys).rows.equals(found.rows)


@pytest.mark.parametrize(
    "as_keys",
    [
        pl.Series,
        pd.Series,
        pa.array,
        lambda keys: pa.chunked_array([keys[:1], keys[1:]]),
        lambda keys: pl.DataFrame({"k": keys}),
        lambda keys: pa.table({"k": pa.array(keys).dictionary_encode() if isinstance(keys[0], str) else keys}),
    ],
    ids=["polars", "pandas", "array", "chunks", "frame", "table"],
)
def test_keys_of_other_libraries(as_keys):
    numbers, texts = Store(schema={"k": "int16"}, key="k"), Store(schema={"k": "string"}, key="k")
    numbers.append(b"k\n1\n2\n3\n")
    texts.append(b"k\na\nb\n")
    for store in (numbers, numbers.snapshot()):
        assert store.lookup(as_keys([3, 9, 70_000])).found.tolist() == [True, False, False]
    assert texts.lookup(as_keys(["b", "c"])).found.tolist() == [True, False]
    assert (numbers.delete(as_keys([2, 9])), texts.delete(as_keys(["a"]))) == (1, 1)
    assert numbers.lookup(pl.Series([3, 2], dtype=pl.UInt8)).found.tolist() == [True, False]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (pl.Series([1.5]), "keys are of type float64, and the key is of type int64"),
        (pa.array(["a"]), "keys are of type string, and the key"),
        (pl.Series([2**63], dtype=pl.UInt64), "keys have values that int64 does not have"),
        (pl.Series([1, None]), "the key of 1 row is null"),
        (pa.table({"k": [1]}).to_reader(), "keys must be a list, an array, a Series or a table of keys"),
    ],
    ids=["floats", "texts", "too large", "null", "reader"],
)
def test_keys_of_other_libraries_that_are_none(keys, said):
    store = Store(schema={"k": "int64"}, key="k")
    with pytest.raises(OptionError, match=said):
        store.lookup(keys)


def test_moments_that_the_type_of_the_key_does_not_have():
    noon = datetime.datetime(2024, 1, 31, 12)
    days = Store(schema={"d": "date32"}, key="d")
    days.append(b"d\n2024-01-31\n")
    assert days.lookup([noon.date(), "2024-01-31", noon.replace(hour=0)]).found.all()
    seconds = Store(schema={"t": "timestamp[s, UTC]"}, key="t")
    seconds.append(b"t\n2024-01-31T12:00:00Z\n")
    here = noon.replace(tzinfo=datetime.UTC).astimezone(datetime.timezone(datetime.timedelta(hours=5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert seconds.lookup([noon, here, np.datetime64(noon, "ns")]).found.all()
    nanos = Store(schema={"t": "timestamp[ns]"}, key="t")
    for store, key in (
        (days, noon),
        (seconds, noon.replace(microsecond=1)),
        (seconds, np.datetime64(noon, "ns") + 1),
        (nanos, datetime.datetime(9999, 1, 1)),
    ):
        for call in (store.lookup, store.delete, lambda bound, store=store: store.range(bound, bound)):
            with pytest.raises(OptionError, match="have values that"):
                call([key])
    assert len(days) == len(seconds) == 1


def test_update_of_some_columns():
    store = Store(schema={"n": "int64", "a": "string", "b": "int8"}, key="n")
    store.append(b"n,a,b\n1,x,1\n2,y,2\n3,z,3\n")
    assert store.update(b"b,n\n9,3\n8,1\n") == 2
    assert store.table().to_pylist() == [
        {"n": 2, "a": "y", "b": 2},
        {"n": 3, "a": "z", "b": 9},
        {"n": 1, "a": "x", "b": 8},
    ]
    with pytest.raises(headrace.OptionError, match="no row has the key 7"):
        store.update(b"n,b\n1,0\n7,0\n")
    assert store.lookup(1).rows["b"].to_pylist() == [8]


def test_delete_by_key_and_by_condition():
    store = cities(key="city")
    assert store.delete(["Rome", "Bonn", "Rome"]) == 1
    assert store.delete(col("founded") > 2000) == 0
    assert store.delete(col("founded").is_null() | (col("city") == "Oslo")) == 1
    assert len(store) == 0
    assert store.merge()
    assert not store.merge()
    assert store.table().num_rows == 0
    assert store.append(CITIES) == 2


def test_values_that_no_row_has_leave_the_dictionary():
    store = Store(schema={"n": "int64"})
    store.append(b"n\n" + b"".join(b"%d\n" % i for i in range(1000)))
    store.merge()
    assert store.statistics.columns["n"].bits == 10
    store.delete(col("n") >= 4)
    store.merge()
    assert (store.statistics.columns["n"].distinct, store.statistics.columns["n"].bits) == (4, 2)


def test_statistics():
    store = cities()
    store.merge()
    store.append(CITIES)
    store.delete(col("city") == "Rome")
    found = store.statistics
    assert (found.rows, found.main_rows, found.delta_rows, found.removed_rows) == (2, 2, 2, 2)
    assert found.delta_bytes == 2 * 8 + 2 * 4 + len("RomeOslo")
    assert found.columns["founded"].bits == 1


def test_a_reader_sees_the_store_as_it_was(tmp_path):
    with Store(tmp_path / "s", schema=SCHEMA) as store:
        store.append(CITIES)
        reader = Store(tmp_path / "s", read_only=True)
        store.append(CITIES)
        store.merge()
        assert (len(reader), len(store)) == (2, 4)
        reader.refresh()
        assert len(reader) == 4
        with pytest.raises(headrace.OptionError, match="read_only=True"):
            reader.append(CITIES)


def test_conversions():
    store = cities()
    assert store.to_polars()["city"].to_list() == ["Rome", "Oslo"]
    assert pa.table(store.snapshot()).num_rows == 2
    assert store.table(["founded"]).column_names == ["founded"]
    assert repr(store) == "<headrace.Store in memory, 2 rows, 2 columns>"


BAD = b"city,founded\nBonn,11\nKyiv,x\n# note\nRome,1\nBonn,12\nParis,,3\n"


@pytest.mark.parametrize(
    ("on_duplicate", "rows", "left_out"),
    [("keep", ["Rome", "Oslo", "Bonn"], 2), ("replace", ["Oslo", "Rome", "Bonn"], 1)],
)
def test_records_that_are_not_added_are_counted_and_kept(on_duplicate, rows, left_out):
    store = cities(key="city", on_duplicate=on_duplicate)
    added = store.append(BAD, on_error="reject", comment_prefix="#")
    assert store.table()["city"].to_pylist() == rows
    assert (added, added.rows, added.duplicates) == (3 - left_out, 3 - left_out, left_out)
    assert added.rejects["line"].to_pylist() == [3, 7]
    assert added.rejects["text"].to_pylist() == ["Kyiv,x", "Paris,,3"]
    assert (added.report.rejected, added.report.skipped.total) == (2, 2)
    assert added.report.records == added.rows + added.duplicates + added.report.rejected + added.report.skipped.total


def test_rows_of_tables_have_the_rejects_of_their_read():
    table = headrace.read_csv(BAD, on_error="reject", comment_prefix="#", dtypes=SCHEMA)
    added = Store(schema=SCHEMA).append(table)
    assert (added, added.duplicates, added.rejects.num_rows, added.report) == (3, 0, 2, table.report)
    added = Store(schema=SCHEMA).append(table.to_arrow())
    assert (added, added.duplicates, added.rejects.num_rows, added.report) == (3, 0, 0, None)
    assert pickle.loads(pickle.dumps(added)).duplicates == 0


def test_rejects_of_updates_and_scans():
    store = Store(schema={"n": "int64", "m": "int64"}, key="n", on_duplicate="keep")
    text = b"n,m\n" + b"".join(b"%d,%s\n" % (i % 900, b"x" if i % 100 == 7 else b"1") for i in range(1000))
    scan = headrace.scan_csv(text, batch_bytes=500, on_error="reject", dtypes=dict(store.schema))
    added = store.ingest(scan)
    assert (added, added.duplicates, added.report.rejected) == (891, 99, 10)
    assert added.rejects["record"].to_pylist() == list(range(8, 1000, 100))
    assert added.report.records == added + added.duplicates + added.report.rejected + added.report.skipped.total
    changed = store.update(b"m,n\n5,1\ny,2\n6,3\n", on_error="reject")
    assert (changed, changed.duplicates, changed.rejects["field"].to_pylist()) == (2, 0, ["y"])
    assert store.lookup([1, 2, 3]).rows["m"].to_pylist() == [5, 1, 6]


@pytest.mark.parametrize(
    ("given", "type_", "wanted"),
    [
        (pa.array([1, None, -3]), "float64", [1.0, None, -3.0]),
        (pa.array([1, None, -128]), "int8", [1, None, -128]),
        (pa.array([0, 255], pa.uint8()), "int64", [0, 255]),
        (pa.array([1.5, None], pa.float32()), "float64", [1.5, None]),
        (pa.array([1 << 24, -(1 << 24)]), "float32", [2.0**24, -(2.0**24)]),
        (pa.array([], pa.int8()), "uint64", []),
        (pa.array([128]), "int8", None),
        (pa.array([-1]), "uint64", None),
        (pa.array([(1 << 53) + 1]), "float64", None),
        (pa.array([1 << 63], pa.uint64()), "int64", None),
        (pa.array([1.0]), "int64", None),
        (pa.array([1.5]), "float32", None),
        (pa.array([True]), "int64", None),
    ],
)
def test_numbers_of_another_type_are_taken_if_each_value_stays(given, type_, wanted):
    store = Store(schema={"n": type_})
    if wanted is None:
        with pytest.raises(OptionError, match=f"column 'n' of source is of type .*, and the store has {type_}; cast it first"):
            store.append(pa.table({"n": given}))
        assert len(store) == 0
    else:
        store.append(pa.table({"n": given}))
        assert store.table()["n"].type == type_
        assert store.table()["n"].to_pylist() == wanted


def test_rows_that_are_no_table_say_how_to_make_one():
    with pytest.raises(OptionError, match=r"source is a list, which is no table; polars.DataFrame\(data\) makes a table of it"):
        Store(schema={"n": "int64"}).append([{"n": 1}])


def test_columns_without_type_are_nulls_of_the_type_of_the_store():
    store = Store(schema={"n": "int64", "city": "string", "cost": "decimal128(9, 2)"}, key="n")
    for table in (
        pa.table({"n": [1, 2], "city": [None, None], "cost": [None, None]}),
        pl.DataFrame({"n": [3], "city": [None], "cost": [None]}),
    ):
        store.append(table)
        store.merge()
    assert store.table().to_pylist() == [{"n": n, "city": None, "cost": None} for n in (1, 2, 3)]
    with pytest.raises(OptionError, match="the key of 1 row"):
        store.append(pa.table({"n": [None], "city": ["Rome"], "cost": pa.nulls(1)}))


def test_keys_are_sorted_and_mapped_once_for_each_state(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    made = []
    for kind in (HashMap, SortedMap):
        monkeypatch.setattr(kind, "insert", _counted(kind.insert, made))
    with Store(tmp_path / "s", schema={"n": "int64"}, key="n") as store:
        store.append(b"n\n3\n1\n2\n")
        for change, expected in ((None, [1, 2]), (b"n\n0\n", [0, 1, 2]), (None, [0, 1, 2])):
            if change is not None:
                store.append(change)
            made.clear()
            assert [store.range(0, 2)["n"].to_pylist() for _ in range(3)] == [expected] * 3
            assert len(made) == 1
            assert store.delete([9]) == 0
        store.merge()
        reader = Store(tmp_path / "s", read_only=True)
        made.clear()
        assert [reader.lookup([2, 5]).found.tolist() for _ in range(3)] == [[True, False]] * 3
        assert len(made) == 1
        store.append(b"n\n5\n")
    assert reader.lookup([2, 5]).found.tolist() == [True, False]
    reader.refresh()
    assert reader.lookup([2, 5]).found.tolist() == [True, True]
    assert reader.range(5, 9)["n"].to_pylist() == [5]


def _counted(insert, made):
    def counted(self, *given):
        made.append(self)
        return insert(self, *given)

    return counted
