"""Tests `read_csv` on a GPU against the CPU, for unusually long texts. These are fields of 200 MB, records longer than any tile,
texts of more than 4 GB, rows over 2^31, and strings over 2 GiB. With ``--log-cli-level=INFO`` each read logs its duration.
"""

from __future__ import annotations

import logging
import os
import time
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import Device, DeviceArray
from headrace.columns.column import Column
from headrace.gpu.device.device import checked, driver, gpu
from headrace.gpu.memory.pool import device_pool
from tests.columns.load.load_gpu_extremes_cases import LONG_FIELDS

pytestmark = pytest.mark.gpu
GB = 1 << 30
LOG = logging.getLogger(__name__)
LONG = 200_000_000


def needs(device: int, host: int) -> None:
    """Skip the test where there are fewer gigabytes."""
    with gpu().current():
        free, _ = checked(driver().cuMemGetInfo())
    there = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if free < device * GB or there < host * GB:
        pytest.skip(f"needs {device} GiB of the GPU and {host} of the host: {free / GB:.0f} and {there / GB:.0f} are free")


def same_column(found: Column, expected: Column) -> None:
    assert (found.type, found.length, found.null_count) == (expected.type, expected.length, expected.null_count)
    if expected.validity is not None and found.validity is not None:
        assert memoryview(found.validity)[: expected.length // 8] == memoryview(expected.validity)[: expected.length // 8]
    if expected.offsets is None:
        many, few = (np.ma.getdata(column.to_numpy()) for column in (found, expected))
        there = ~np.ma.getmaskarray(expected.to_numpy()) if expected.null_count else slice(None)
        assert np.array_equal(many[there], few[there])
        return
    assert found.offsets is not None
    offsets = [np.frombuffer(memoryview(column.offsets), np.uint8) for column in (found, expected)]
    size = (expected.length + 1) * expected.type.bits // 8
    assert np.array_equal(offsets[0][:size], offsets[1][:size])
    values = [np.frombuffer(memoryview(column.values), np.uint8) for column in (found, expected)]
    assert np.array_equal(values[0], values[1][: len(values[0])])


def check(name: str, data: Any, **options: Any) -> headrace.Table:
    """Read on both, and compare all; the GPU's table on the host."""
    begun = time.perf_counter()
    expected = headrace.read_csv(data, **options)
    on_cpu = time.perf_counter() - begun
    begun = time.perf_counter()
    found = headrace.read_csv(data, device="cuda", **options)
    on_gpu = time.perf_counter() - begun
    nbytes = memoryview(data).nbytes
    size = f"{nbytes:_} bytes, {found.num_rows:_} x {found.num_columns}"
    LOG.info("%s: %s: CPU %.2f s, GPU with copy %.2f s", name, size, on_cpu, on_gpu)
    assert found.report.device == "cuda" and found.device == Device("cuda", 0)
    back = found.to("cpu")
    assert list(back.schema.items()) == list(expected.schema.items())
    for own, column in expected.columns.items():
        same_column(back[own], column)
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    for fact in ("records", "rows", "rejected", "skipped", "columns", "filled", "bytes"):
        assert getattr(found.report, fact) == getattr(expected.report, fact), fact
    return back


def repeated(body: bytes, size: int, head: bytes = b"", behind: bytes = b"") -> np.ndarray:
    """Return `head`, `body` repeated to about `size` bytes, and the bytes after it."""
    once = np.frombuffer(body, np.uint8)
    return np.concatenate([np.frombuffer(head, np.uint8), np.tile(once, size // len(body)), np.frombuffer(behind, np.uint8)])


def test_rows_over_2_to_the_31():
    needs(device=12, host=24)
    rows = 2**31 + 1000
    data = repeated(b"7\n", 2 * rows)
    assert len(data) > 2**32
    data[2 * (2**31 + 7)] = ord("x")
    data[2 * (2**31 + 99)] = ord("\n")
    found = check("one digit a row", data, header=False, schema=["int8"], on_error="null")
    assert found.num_rows == rows - 1 and found.rejects["record"].to_pylist() == [2**31 + 8]
    rejected = check("one row out", data, header=False, schema=["int8"], on_error="reject")
    assert rejected.num_rows == rows - 2


def test_a_text_over_4_gb():
    needs(device=24, host=48)
    body = b"".join(b'%d,%d.5,2024-01-%02d,text %d,"a ""q"" %d"\n' % (n, n, n % 28 + 1, n % 7, n) for n in range(50_000))
    data = repeated(body, 4500 << 20, b"a,b,c,d,e\n", b'1,2\n3,x,2024-01-01,y,"z"\n4,5.5,2024-01-01,t,"u"')
    check("given types", data, dtypes={"b": "float64"}, on_error="reject")
    check("inferred", data, on_error="null", columns=["a", "b", "e"], shrink=True)


def test_strings_over_2_gib():
    needs(device=16, host=32)
    body = b"".join(b"%d,%s\n" % (n % 1000, (b"text %d " % n) * 9) for n in range(20_000))
    data = repeated(body, 2600 << 20, b"a,b\n")
    for options in ({}, {"dtypes": {"a": "int32", "b": "string"}}):
        found = check(f"strings {options}", data, **options)
        assert str(found.schema["b"]) == "large_string"
    long = b"".join(b"x%d," % n + b"y" * 6_000_000 + b"\n" for n in range(150))
    data = repeated(body, 1900 << 20, b"a,b\n", long)
    found = check("long ones out", data, dtypes={"a": "int16"}, on_error="reject")
    assert found.report.rejected == 150 and str(found.schema["b"]) == "string"


def seconds(data: bytes, options: dict[str, Any]) -> float:
    """The least of some reads of a text that lies on the GPU."""
    text = DeviceArray.from_host(np.frombuffer(data, np.uint8))
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        found = headrace.read_csv(text, **options)
        found.columns["a"].values.gpu.synchronize()
        times.append(time.perf_counter() - begun)
    return min(times)


@pytest.mark.parametrize("kind", LONG_FIELDS)
def test_a_field_of_200_mb_slows_nothing_else(kind):
    needs(device=12, host=16)
    rows = b"".join(b"%d,text %d,%d.25\n" % (row, row % 97, row % 1000) for row in range(100_000)) * 200
    # Quotes alone make other kernels read the text, so a short field of the kind is in the other one.
    short, data = (b"a,b,c\n" + rows + b"1," + LONG_FIELDS[kind](size) + b",2.5\n" + rows for size in (22, LONG))
    given: dict[str, Any] = {"schema": {"a": "int64", "b": "string", "c": "float64"}}
    for options in ({}, given):
        check(f"200 MB {kind} {bool(options)}", data, **options)
        without, with_it = seconds(short, options), seconds(data, options)
        LOG.info("%s: %d bytes in %.2f ms, with it %d in %.2f", kind, len(short), without * 1e3, len(data), with_it * 1e3)
        assert with_it < 1.5 * without * len(data) / len(short), kind


@pytest.mark.parametrize("columns", [1, 10_000, 70_000])
def test_columns(columns):
    needs(device=8, host=16)
    line = b",".join(b"%d" % (number % 1000) for number in range(columns)) + b"\n"
    texts = b",".join(b'"t%d"' % number if number % 3 else b"%d.5" % number for number in range(columns)) + b"\n"
    rows = 60_000_000 // len(line)
    check(f"{columns} columns", line * rows, header=False)
    if columns > 10_000:
        return
    check(f"{columns} columns of all kinds", (texts * (rows // 8 + 1)), header=False)
    spoiled = line[:-2] + b"x\n"
    check("one row out", line * (rows // 20 + 1) + spoiled + line * 3, header=False, dtypes="int16", on_error="reject")


@pytest.mark.parametrize("long_records", ["truncate", "collect"])
def test_a_record_longer_than_any_tile(long_records):
    needs(device=4, host=8)
    data = b"a,b\n" + b"1,2\n" * 5_000_000 + b"3,4" + b",5" * 5_000_000 + b"\n" + b"6,7\n" * 5_000_000
    check(long_records, data, long_records=long_records)


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (b"1234,5678,9012\n" * 100, {}),
        (b'2023,"a note, in quotes",3.25,open\n' * 100, {}),
        (b"1,x,2.5\n" * 100 + b",,\n" * 3, {"schema": {"a": "int8", "b": "string", "c": "float64"}}),
        (b"1,'it''s',7\n" * 100, {"quote_char": "'", "escape_char": "\\"}),
    ],
)
def test_memory_beside_the_text_is_1_3_of_the_result_and_64_mb(body, options):
    text = DeviceArray.from_host(repeated(body, 512 << 20), gpu())
    pool = device_pool(gpu())
    gpu().synchronize()
    before = pool.used
    pool.reset_peak()
    table = headrace.read_csv(text, header=False, **options)
    most, columns = pool.peak_used - before, table.columns.values()
    result = sum(buffer.nbytes for one in columns for buffer in (one.values, one.offsets, one.validity) if buffer is not None)
    assert result <= most <= 1.3 * result + (64 << 20)
