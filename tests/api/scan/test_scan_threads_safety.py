"""Tests threads that share a scan or its batches: each iterator gives every row once, to one of the threads."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import headrace
from headrace import HeadraceError

_ROWS = 60_000
_TEXT = b"n,text\n" + b"".join(b"%d,some text\n" % i for i in range(_ROWS))
_THREADS = 4


def _together(work: Callable[[], Any]) -> list[Any]:
    """Run `work` on several threads at the same time; return their results."""
    begin = threading.Barrier(_THREADS)

    def run() -> Any:
        begin.wait()
        return work()

    with ThreadPoolExecutor(_THREADS) as pool:
        return [future.result(60) for future in [pool.submit(run) for _ in range(_THREADS)]]


def _rows(batches) -> list[int]:
    return [n for batch in batches for n in batch["n"].to_pylist()]


@pytest.mark.parametrize("source", [lambda: _TEXT, lambda: io.BytesIO(_TEXT)], ids=["bytes", "file object"])
def test_threads_share_the_batches(source):
    batches = headrace.scan_csv(source(), batch_bytes=1 << 16).batches()
    taken = _together(lambda: _rows(batches))
    assert sorted(n for rows in taken for n in rows) == list(range(_ROWS))
    for rows in taken:
        assert rows == sorted(rows)


def test_each_thread_reads_the_scan():
    scan = headrace.scan_csv(_TEXT, batch_bytes=1 << 16)
    for rows in _together(lambda: _rows(scan)):
        assert rows == list(range(_ROWS))
    assert scan.report.rows == _ROWS


def test_threads_ask_for_the_schema_and_the_table():
    scan = headrace.scan_csv(_TEXT, batch_bytes=1 << 16)
    for names, table in _together(lambda: (list(scan.schema), scan.read())):
        assert names == ["n", "text"]
        assert table["n"].to_pylist() == list(range(_ROWS))


def test_a_thread_closes_the_scan_that_another_reads():
    scan = headrace.scan_csv(_TEXT, batch_bytes=1 << 16)
    begun = threading.Event()

    def read() -> None:
        while True:
            for _ in scan:
                begun.set()

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        begun.wait()
        scan.close()
        with pytest.raises(HeadraceError, match="the scan is closed"):
            reading.result(60)
