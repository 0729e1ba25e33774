"""Tests exhausted memory, Ctrl-C, other threads and forks: afterwards the process continues as without the read."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import headrace
from headrace import Context, MemoryLimitError, ParseError, Table, _native, read_csv

SMALL = b"a,b\n1,x\n2,y\n"
EXPECTED = {"a": [1, 2], "b": ["x", "y"]}


def read(source: object, **options: object) -> Table:
    table = read_csv(source, **options)  # type: ignore[arg-type]
    table.report.check()
    return table


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.parametrize("values", [b"1,2\n", b"text of some length,more of that\n", b'"quo""ted",x\n'])
def test_memory_limit(values: bytes) -> None:
    data = b"a,b\n" + values * ((40 << 20) // len(values))
    headrace.release_unused_memory()
    before = resident_bytes()
    for _ in range(3):
        with pytest.raises(MemoryLimitError, match=r"limit|memory"):
            read(data, context=Context(memory_limit=8 << 20))
    headrace.release_unused_memory()
    assert resident_bytes() - before < 24 << 20
    assert read(data, context=Context(memory_limit=400 << 20)).num_rows == (40 << 20) // len(values)


_NEVER_RECLAIMED = _native.usable_memory() // 64
"""Bytes of cached memory whose pages the kernel may not reclaim."""


def reclaimable_bytes() -> int:
    """Return the bytes of this process that the kernel may reclaim when memory is short (`MADV_FREE`)."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("LazyFree:"))


@pytest.mark.long
@pytest.mark.skipif(_NEVER_RECLAIMED > 1 << 30, reason="takes more memory than a test should on this machine")
def test_the_system_may_reclaim_cached_memory() -> None:
    data = b"a\n" + b"1\n" * ((_NEVER_RECLAIMED + (64 << 20)) // 8)
    headrace.release_unused_memory()
    result_bytes = 8 * read(data).num_rows
    assert reclaimable_bytes() > 0.9 * result_bytes
    assert read(data).num_rows == result_bytes // 8
    headrace.release_unused_memory()
    assert reclaimable_bytes() < 0.1 * result_bytes


def check_release_within_a_second() -> None:
    data = b"a,b\n" + b"1,text\n" * 4_000_000
    read(data, threads=2)  # a forked child has yet to touch the pages of programs, and threads keep a little memory
    headrace.release_unused_memory()
    before = resident_bytes()
    table = read(data, threads=2)
    assert resident_bytes() - before > 24 << 20  # of 64 MB; the rest may be memory that threads have kept
    del table
    deleted = time.monotonic()
    while resident_bytes() - before > 8 << 20:
        assert time.monotonic() - deleted < 1
        time.sleep(0.01)


def test_a_deleted_table_returns_its_memory_within_a_second() -> None:
    check_release_within_a_second()


def test_a_deleted_table_returns_its_memory_in_a_forked_child() -> None:
    read(b"a\n" + b"1\n" * 2_000_000)
    child = multiprocessing.get_context("fork").Process(target=check_release_within_a_second)
    child.start()
    child.join()
    assert child.exitcode == 0


CACHED_IN_A_CHILD = """
import ctypes, os, headrace
names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
Counts = type("Counts", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in names]})
counts = ctypes.CDLL(None).mallinfo2
counts.restype = Counts
def used():
    found = counts()
    return found.uordblks + found.hblkhd
def released():
    before = used()
    headrace.release_unused_memory()
    return before - used()
headrace.read_csv(b"a\\n1\\n")
headrace.release_unused_memory()
before = used()
tables = [headrace.read_csv(b"a\\n" + b"12345678901\\n" * 40_000) for _ in range(50)]
del tables
is_cached = used() - before > 8 << 20
child = os.fork()
if child == 0:
    os._exit(released() > 1 << 20)
print(os.waitpid(child, 0)[1], is_cached)
"""


def test_a_forked_child_frees_the_cached_blocks() -> None:
    """It has no thread that would free them after half a second."""
    ended = subprocess.run([sys.executable, "-c", CACHED_IN_A_CHILD], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["0", "True"]


def test_memory_limit_counts_rejects() -> None:
    data = b"a\n" + b"x\n" * 1_000_000
    with pytest.raises(MemoryLimitError):
        read(data, dtypes={"a": "int64"}, on_error="null", context=Context(memory_limit=32 << 20))


def test_address_space_runs_out() -> None:
    """No memory is an error, not a crash; in a process of its own."""
    code = """
import resource, headrace
data = b"a,b,c\\n" + b"1,text,2.5\\n" * 5_000_000
resource.setrlimit(resource.RLIMIT_AS, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (120 << 20), -1))
try:
    print(headrace.read_csv(data, threads=2).num_rows)
except headrace.MemoryLimitError as error:
    print("MemoryLimitError", error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(("MemoryLimitError", "5000000"))


INTERRUPTED = """
import sys, headrace
data = b"a,b,c\\n" + b"1.25,text,2020-01-01 00:00:00\\n" * 10_000_000
print("ready", flush=True)
try:
    while True:
        headrace.read_csv(data, threads=int(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    print(headrace.read_csv(b"a\\n1\\n").to_pydict(), flush=True)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt(threads: int) -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(threads)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 2
        assert process.stdout.readline() == "{'a': [1]}\n"
        assert process.wait(10) == 0


def test_reads_at_the_same_time() -> None:
    texts = [b"a,b\n" + b"%d,t%d\n" % (i, i) * 20_000 for i in range(4)]
    found: dict[int, list[Table]] = {i: [] for i in range(4)}

    def work(i: int) -> None:
        for _ in range(10):
            found[i].append(read(texts[i], threads=2, chunk_bytes=10_000))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, tables in found.items():
        assert len(tables) == 10
        for table in tables:
            assert table.to_pydict() == {"a": [i] * 20_000, "b": [f"t{i}"] * 20_000}


def test_other_threads_run_during_a_read() -> None:
    """The read lets Python's lock go."""
    data = b"a,b\n" + b"1.25,text\n" * 6_000_000
    begun = time.perf_counter()
    done = threading.Event()

    def work() -> None:
        read(data, threads=1)
        done.set()

    ticks = 0
    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    thread.join()
    assert ticks > 5, time.perf_counter() - begun


def test_fork_after_a_read() -> None:
    data = b"a,b\n" + b"1,x\n" * 100_000
    read(data, threads=2, chunk_bytes=10_000)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if read(data, threads=2, chunk_bytes=10_000).num_rows == 100_000 else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_error_of_one_read_leaves_the_next_alone() -> None:
    bad = b"a\n" + b"1\n" * 50_000 + b"x\n" + b"1\n" * 50_000
    for _ in range(20):
        with pytest.raises(ParseError, match="record 50001 "):
            read(bad, dtypes={"a": "int64"}, threads=4, chunk_bytes=1000)
        assert read(SMALL).to_pydict() == EXPECTED
