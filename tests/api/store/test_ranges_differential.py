"""Compares ranges of keys with a model, over histories of appends, deletes, replaced rows and merges."""

from __future__ import annotations

import datetime
import random

import pytest

import headrace

KEYS = 90
FIRST = datetime.date(1970, 1, 1)


def date_of(number):
    return FIRST + datetime.timedelta(number - KEYS // 2)


KINDS = {
    "int64": lambda number: number - KEYS // 2,
    "int16": lambda number: 300 * (number - KEYS // 2),
    "uint64": lambda number: (1 << 64) - 1 - number,
    "date32": date_of,
    "timestamp[ms]": lambda number: datetime.datetime.combine(date_of(number), datetime.time(), datetime.UTC),
    "string": lambda number: f"é{number}" if number % 3 else str(number),
}


def text_of(key):
    return key.isoformat().removesuffix("+00:00") if isinstance(key, datetime.date) else str(key)


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("type_", KINDS)
@pytest.mark.parametrize("has_folder", [False, True])
def test_ranges(type_, has_folder, tmp_path, request):
    draw = random.Random(request.node.name)
    keys = [KINDS[type_](number) for number in range(KEYS)]
    path = tmp_path / "store" if has_folder else None
    store = headrace.Store(path, schema={"k": type_, "v": "int64"}, key="k", on_duplicate="replace", merge_bytes=None)
    model, snapshots = {}, []
    for number in range(60):
        match draw.choice(["append", "append", "delete", "merge", "open"]):
            case "append":
                chosen = draw.sample(keys, draw.randint(1, 20))
                store.append("".join(["k,v\n", *(f"{text_of(key)},{number}\n" for key in chosen)]).encode())
                model |= dict.fromkeys(chosen, number)
            case "delete":
                chosen = draw.sample(keys, draw.randint(1, 9))
                assert store.delete(chosen) == len(model.keys() & set(chosen))
                model = {key: value for key, value in model.items() if key not in chosen}
            case "merge":
                store.merge()
            case "open" if has_folder:
                store.close()
                store = headrace.Store(path, merge_bytes=None, on_duplicate="replace")
        for _ in range(2):
            low, high = draw.choice(keys), draw.choice(keys)
            found = store.range(low, high)
            expected = [key for key in sorted(model) if low <= key <= high]
            assert found["v"].to_pylist() == [model[key] for key in expected]
        if draw.random() < 0.1:
            snapshots.append((store.snapshot(), sorted(model.items())))
    for snapshot, rows in snapshots:
        assert snapshot.range(min(keys), max(keys))["v"].to_pylist() == [value for _, value in rows]
    store.close()
