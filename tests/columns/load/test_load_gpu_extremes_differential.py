"""Tests loading on a GPU of texts longer than its tiles, under the fiber harness, against `read_csv` on the CPU. In full size:
tests/api/read/test_read_csv_gpu_extremes_differential.py.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import headrace
from headrace.columns.faults.gpu import patch_strings
from headrace.columns.load.gpu import load
from tests.columns.load.load_gpu_cases import OTHER_SHAPE, read_on_fibers
from tests.columns.load.load_gpu_dialects_cases import outcome
from tests.columns.load.load_gpu_extremes_cases import LONG_FIELDS
from tests.columns.load.load_gpu_forms_cases import check

pytestmark = pytest.mark.fibers


def around(field: bytes, rows: int) -> bytes:
    """Records of three fields, and one in the middle of which the second is this."""
    half = b"".join(b"%d,text %d,%d.25\n" % (row, row % 97, row % 1000) for row in range(rows // 2))
    return b"a,b,c\n" + half + b"1," + field + b",2.5\n" + half


@pytest.mark.covering(default=1)
@pytest.mark.parametrize("kind", LONG_FIELDS)
@pytest.mark.parametrize("typed", [False, True])
def test_a_long_field_in_the_middle(kind, typed):
    types = {"a": "int64", "b": "string", "c": "float64"} if typed else None
    for size in (4000, 17_000):
        check(around(LONG_FIELDS[kind](size), 60), 2, schema=types)
        check(around(LONG_FIELDS[kind](size), 60), 3, columns=["a", "c"])


@pytest.mark.parametrize(
    "options", [{}, {"lenient_quotes": True}, {"escape_char": "\\"}, {"encoding_errors": "replace"}], ids=str
)
def test_long_fields_in_other_dialects(options):
    for kind in ("quoted", "far outside ASCII"):
        check(around(LONG_FIELDS[kind](9000), 30), 1, **options)


def record(rng: random.Random, columns: int) -> bytes:
    return b",".join(rng.choice([b"%d", b"%d.5", b"t%d", b'"q%d"']) % rng.randrange(1000) for _ in range(columns)) + b"\n"


@pytest.mark.long_except("1", "300")
@pytest.mark.parametrize("columns", [1, 300, 700])
def test_records_longer_than_tiles(columns):
    rng = random.Random(columns)
    data = b"".join(record(rng, columns) for _ in range(5 if columns > 1 else 500))
    check(data, 4, header=False)
    check(data, 5, header=False, infer_schema=False)


@pytest.mark.parametrize("long_records", ["truncate", "collect", "reject"])
def test_a_record_of_many_more_fields(long_records):
    data = b"a,b\n1,2\n" + b"3,4" + b",5" * 6000 + b"\n6,7\n" * 40
    check(data, 2, long_records=long_records, on_error="null")


def test_strings_that_offsets_of_32_bits_do_not_reach(monkeypatch):
    data = b"a,b\n" + b"".join(b"%d,text\xff %d\n" % (row, row) for row in range(40))
    monkeypatch.setattr(load, "MAX_STRING_BYTES", 100)
    monkeypatch.setattr(patch_strings, "MAX_STRING_BYTES", 100)
    for options in ({"encoding_errors": "replace"}, {"on_error": "reject"}, {"dtypes": {"b": "string"}, "on_error": "null"}):
        expected, error = outcome(lambda given=options: headrace.read_csv(data, **given))
        found, raised = outcome(lambda given=options: read_on_fibers(data, shape=OTHER_SHAPE, **given)[0])
        assert raised == error == ""
        assert found is not None and expected is not None
        named: dict[str, Any] = {"a": "int64", "b": "large_string" if "encoding_errors" in options else "string"}
        if options.get("on_error") != "reject":
            assert {name: str(type_) for name, type_ in found.schema.items()} in (named, {**named, "b": "large_string"})
        assert [column.to_pylist() for column in found.columns.values()] == [
            column.to_pylist() for column in expected.columns.values()
        ]
