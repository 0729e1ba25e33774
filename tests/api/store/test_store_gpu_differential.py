"""Compares stores whose merges run on a GPU with those of the CPU: rows, and the bytes of files."""

from __future__ import annotations

import random

import pytest

from headrace import Context, Store
from tests.api.store.store_cases import SCHEMA, random_rows, rows_of, table_of

pytestmark = pytest.mark.gpu

GPU = Context(device="cuda")


def test_merges_write_the_same_bytes(tmp_path, request):
    draw = random.Random(request.node.name)
    stores = [Store(tmp_path / name, schema=SCHEMA, key="id", context=context) for name, context in (("a", None), ("b", GPU))]
    for begin, count in ((0, 5000), (5000, 1), (5001, 20_000)):
        table = table_of(random_rows(draw, range(begin, begin + count)))
        assert [store.append(given) for store, given in zip(stores, (table, table.to("cuda")), strict=True)] == [count, count]
        removed = list(range(begin, begin + count, 3))
        assert {store.delete(removed) for store in stores} == {len(removed)}
        assert all(store.merge() for store in stores)
        first, second = (next((tmp_path / name).glob("main-*")) for name in ("a", "b"))
        assert first.name == second.name and first.read_bytes() == second.read_bytes()
    assert rows_of(stores[0].table()) == rows_of(stores[1].table())
    for store in stores:
        store.close()
