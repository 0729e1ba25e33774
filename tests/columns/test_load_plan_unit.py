"""A plan of a load is a value: its copy by pickle loads the same table. The outcome of a fault follows from one rule."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from headrace.api.load.reading import load_plan, prepare
from headrace.api.options.csv_options import parse_options
from headrace.api.read.read_csv import read_csv
from headrace.columns.faults.rejects import FAULT_KINDS
from headrace.columns.load.load import load
from headrace.columns.plan.load_plan import LoadPlan, tile_bytes_for
from headrace.columns.plan.row_policy import RowOptions, fault_outcomes, row_rules
from headrace.columns.schema import FirstRecord
from headrace.sources.open import OpenSource, open_source
from headrace.structure.dialect import Dialect

TEXT = b"id,when,local,price\n1,31.12.2024,2024-07-01 12:00,1\n2,x,2024-07-01 13:00,2.5\n3,01.02.2025\n4,,,a,b\n"
OPTIONS: dict[str, Any] = {
    "dtypes": {"when": "date32", "local": "timestamp[us, Europe/Berlin]"},
    "date_format": {"when": "%d.%m.%Y"},
    "null_values": {"id": "4"},
    "on_error": "reject",
    "row_index": "row",
}


@contextmanager
def planned(**options: Any) -> Iterator[tuple[OpenSource, Dialect, LoadPlan]]:
    parsed = parse_options({**(read_csv.__kwdefaults__ or {}), **options})
    with open_source(TEXT, parsed.source) as source:
        yield source, parsed.dialect, load_plan(source, prepare(source, parsed), parsed)


@pytest.mark.parametrize("options", [{}, OPTIONS, {"columns": ["id"], "short_records": "null", "long_records": "collect"}])
def test_a_pickled_plan_loads_the_same_table(options: dict[str, Any]) -> None:
    with planned(**{"on_error": "null"} | options) as (source, dialect, plan):
        copy = pickle.loads(pickle.dumps(plan))
        assert copy == plan
        assert hash(plan.rows) == hash(copy.rows)
        given, again = load(source, dialect, plan), load(source, dialect, copy)
    assert given.counts == again.counts
    for name in given.rejects:
        assert given.rejects[name].to_pylist() == again.rejects[name].to_pylist()
    for column, other in zip(given.columns, again.columns, strict=True):
        assert (column is None) == (other is None)
        assert column is None or other is None or (column.type, column.to_pylist()) == (other.type, other.to_pylist())


def expected_outcome(kind: str, on_error: str, options: RowOptions, lenient: bool) -> str:
    if kind in ("type", "overflow", "encoding"):
        return {"null": "keep"}.get(on_error, on_error)
    if kind == "quote" and lenient:
        return "keep"
    policy = {"too_few_fields": options.short_records, "too_many_fields": options.long_records}.get(kind)
    by_policy = {"error": "raise", "reject": "reject", "truncate": "keep"}
    return by_policy.get(policy or "", "raise" if on_error == "raise" else "reject")


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("on_error", ["raise", "null", "reject"])
def test_the_outcome_of_each_fault(on_error: str, lenient: bool) -> None:
    for short_records in (None, "null", "error", "reject"):
        for long_records in (None, "truncate", "collect", "widen", "error", "reject"):
            options = RowOptions(short_records=short_records, long_records=long_records)
            found = fault_outcomes(row_rules(options, 4, on_error), on_error, lenient=lenient)
            assert found == [expected_outcome(kind, on_error, options, lenient) for kind in FAULT_KINDS]


@pytest.mark.parametrize(
    ("size", "fields", "field", "threads", "expected"),
    [
        (1 << 30, 10, 10, 1, 1 << 18),
        (1 << 30, 1000, 8, 16, 2_048_000),
        (1 << 30, 1000, 1000, 16, 4_096_000),
        (1 << 30, 10_000, 8, 16, 1 << 22),
        (1 << 26, 1000, 8, 16, 1 << 20),
        (1 << 30, 1, 10**6, 16, 1 << 18),
    ],
)
def test_tiles_of_records_with_many_fields(size: int, fields: int, field: int, threads: int, expected: int) -> None:
    """A tile has 256 of them, if no field has more than 16 bytes, between 256 KB and 4 MB. Every thread gets four tiles."""
    first = FirstRecord(begin=0, fields=(b"x" * (field - 1),) * fields)
    assert tile_bytes_for(size, first, threads) == expected
    assert tile_bytes_for(size, None, threads) == 1 << 18
    assert tile_bytes_for(size, first, threads, has_long_records=True) == max(expected, min(2 << 20, size // (4 * threads)))
