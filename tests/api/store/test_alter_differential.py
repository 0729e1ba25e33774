"""Compares stores whose columns change with rows of Python, in memory and in a folder, between appends, deletes and merges."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from headrace import OptionError, Store

VALUES = {
    "int8": [None, -128, 127, 0],
    "int32": [None, -(2**31), 2**31 - 1, 5],
    "uint16": [0, 65535, None],
    "float32": [None, 0.5, -0.0, float("inf")],
    "string": [None, "", "Zürich", "a" * 30],
    "bool": [True, None, False],
    "decimal128(5, 2)": [Decimal("1.25"), None, Decimal("-999.99")],
}
WIDER = {"int8": "int16", "int32": "float64", "uint16": "int32", "float32": "float64", "string": "large_string"}
WIDER["decimal128(5, 2)"] = "decimal128(9, 2)"


def arrow_type(text):
    """Return a type of PyArrow."""
    if text.startswith("decimal"):
        return pa.decimal128(*digits_of(text))
    return getattr(pa, {"bool": "bool_"}.get(text, text))()


def digits_of(text):
    return tuple(int(part) for part in text[len("decimal128(") : -1].split(","))


class Model:
    """Rows as dicts, and the type of each column as a text."""

    def __init__(self):
        self.types, self.rows = {"key": "int64", "a": "string"}, []

    def alter(self, draw):
        """Change the columns; return the options of `Store.alter`."""
        free = [name for name in "abcdefghijkl" if name not in self.types]
        others = [name for name in self.types if name != "key"]
        drop = [name for name in others if draw.random() < 0.15 or not free]
        kept = [name for name in others if name not in drop]
        widen = {name: WIDER[self.types[name]] for name in kept if self.types[name] in WIDER and draw.random() < 0.3}
        rename = {kept[0]: kept[1], kept[1]: kept[0]} if len(kept) > 1 and draw.random() < 0.3 else {}
        add = {name: draw.choice(list(VALUES)) for name in free[: draw.randrange(1 + (not drop and not widen), 3)]}
        defaults = {name: draw.choice(VALUES[type_]) for name, type_ in add.items() if draw.random() < 0.7}
        names = {name: rename.get(name, name) for name in self.types if name not in drop}
        self.types = {new: widen.get(old, self.types[old]) for old, new in names.items()} | add
        filled = {name: defaults.get(name) for name in add}
        self.rows = [{**{new: row[old] for old, new in names.items()}, **filled} for row in self.rows]
        return {"add": add, "defaults": defaults, "drop": drop, "rename": rename, "widen": widen}

    def fresh(self, draw, count):
        """Add rows with new keys, and return them as a table."""
        first = max((row["key"] for row in self.rows), default=0) + 1
        values = {**VALUES, **{new: VALUES[old] for old, new in WIDER.items()}}
        columns = {name: [draw.choice(values.get(type_, [1])) for _ in range(count)] for name, type_ in self.types.items()}
        columns["key"] = list(range(first, first + count))
        self.rows += [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return pa.table({name: pa.array(values, arrow_type(self.types[name])) for name, values in columns.items()})


@pytest.mark.parametrize("is_in_folder", [False, True])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_random_changes_of_columns(seed, is_in_folder, tmp_path, request):
    draw = random.Random(request.node.name)
    path = tmp_path / "store" if is_in_folder else None
    model = Model()
    store = Store(path, schema=model.types, key="key")
    for _ in range(40):
        kind = draw.randrange(8)
        if kind < 3:
            store.append(model.fresh(draw, draw.randrange(6)))
        elif kind < 5:
            before, snapshot = [dict(row) for row in model.rows], store.snapshot()
            store.alter(**model.alter(draw))
            assert snapshot.table().to_pylist() == before
        elif kind == 5:
            store.merge()
        elif kind == 6:
            gone = [row["key"] for row in model.rows if draw.random() < 0.2]
            store.delete(gone)
            model.rows = [row for row in model.rows if row["key"] not in gone]
        elif is_in_folder:
            store.close()
            store = Store(path)
        assert {name: str(type_) for name, type_ in store.schema.items()} == model.types
        assert store.table().to_pylist() == model.rows
    keys = [row["key"] for row in model.rows]
    assert store.lookup(keys).rows.to_pylist() == store.range(0, 10**6).to_pylist() == model.rows
    store.close()


NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def extremes(name):
    """Return numbers of a type that need all of its digits."""
    if name.startswith("float"):
        return [float(np.finfo(name).max), float(np.finfo(name).tiny), -1.5]
    return [int(np.iinfo(name).min), int(np.iinfo(name).max), int(np.iinfo(name).max) - 1]


def has_all(old, new):
    """Return whether a type has the extremes of another one."""
    if new.startswith("float"):
        return all(np.dtype(new).type(value) == value and int(np.dtype(new).type(value)) == value for value in extremes(old))
    return not old.startswith("float") and all(np.iinfo(new).min <= value <= np.iinfo(new).max for value in extremes(old))


def widens_floats(old, new):
    return (old, new) == ("float32", "float64")


@pytest.mark.parametrize(("old", "new"), list(product(NUMBERS, NUMBERS)))
def test_numbers_take_a_type_that_has_all_of_them(old, new):
    store = Store(schema={"x": old})
    rows = pa.table({"x": pa.array([*extremes(old), None], arrow_type(old))})
    store.append(rows)
    store.merge()
    store.append(rows)
    if old == new or (has_all(old, new) if not old.startswith("float") else widens_floats(old, new)):
        store.alter(widen={"x": new})
        wanted = store.table()["x"].to_pylist()
        assert wanted == [*extremes(old), None] * 2 and store.schema["x"] == new
        store.append(rows)
        assert store.merge() and store.table()["x"].to_pylist() == [*extremes(old), None] * 3
    else:
        with pytest.raises(OptionError, match=f"column 'x' is of type {old}, and {new} does not have all of its values"):
            store.alter(widen={"x": new})


def test_floats_that_are_no_numbers_stay_distinct():
    bits = np.array([0x7F800001, 0x7FC00001, 0xFF800001, 0xFFC00001, 0x7F800002, 0x3F800000], np.uint32)
    store = Store(schema={"x": "float32"})
    rows = pa.table({"x": pa.Array.from_buffers(pa.float32(), len(bits), [None, pa.py_buffer(bits)])})
    store.append(rows)
    store.merge()
    store.append(rows)
    store.alter(widen={"x": "float64"})
    found = store.table()["x"].to_numpy().view(np.uint64)
    fraction, sign = bits.astype(np.uint64) & 0x7FFFFF, bits.astype(np.uint64) >> 31
    wanted = np.where(bits == 0x3F800000, 0x3FF0000000000000, sign << 63 | 0x7FF0000000000000 | fraction << 29)
    assert found.tolist() == [*wanted.tolist(), *wanted.tolist()]
    store.merge()
    assert store.statistics.columns["x"].distinct == 6
    assert store.table()["x"].to_numpy().view(np.uint64).tolist() == found.tolist()


def test_columns_of_no_rows():
    store = Store(schema={"n": "int8"})
    store.alter(add={"t": "string"}, defaults={"t": "x"})
    store.append(b"n,t\n1,y\n")
    store.merge()
    assert store.statistics.columns["t"].distinct == 1
