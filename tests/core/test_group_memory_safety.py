"""Calls in a container that is short of memory: an error instead of the end of the process.

Each program runs in a process of its own, and files describe its control group. The group has 640 MB, so calls are checked from
10 MB on, and the group is full if less than 40 MB are left.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.core.group_cases import write_files

_MB = 1_000_000
_BEGIN = """
import gzip, io, sys
import headrace
from headrace import _native
_native.use_limits_below(sys.argv[1])
text = b"a,b\\n" + b"1,x\\n" * 3_000_000

def attempt(call):
    try:
        print(call())
    except headrace.MemoryLimitError as error:
        print("MemoryLimitError", error)
"""


def _run(root, free: int, calls: str) -> list[str]:
    """Return the lines that a program prints in a group with `free` bytes left, half of them in the cache of files."""
    write_files(
        root,
        {
            "proc/self/cgroup": "0::/app\n",
            "sys/fs/cgroup/app/memory.max": f"{640 * _MB}\n",
            "sys/fs/cgroup/app/memory.current": f"{640 * _MB - free // 2}\n",
            "sys/fs/cgroup/app/memory.stat": f"anon 1\ninactive_file {free // 2}\n",
        },
    )
    ended = subprocess.run([sys.executable, "-c", _BEGIN + calls, str(root)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


_READS = """
attempt(lambda: headrace.read_csv(text[:1_000_000]).num_rows)
attempt(lambda: headrace.read_csv(text, context=headrace.Context(memory_limit=10**9)).num_rows)
attempt(lambda: headrace.read_csv(text).num_rows)
attempt(lambda: sum(batch.num_rows for batch in headrace.scan_csv(text, batch_bytes=1 << 20).batches()))
attempt(lambda: headrace.read_csv(io.BytesIO(gzip.compress(text, 1))).num_rows)
attempt(lambda: headrace.read_csv(text.decode().encode("utf-7"), encoding="utf-7").num_rows)
"""


def test_reads_in_a_full_container(tmp_path):
    small, limited, *refused = _run(tmp_path, 39 * _MB, _READS)
    assert len(refused) == 4
    for line in refused:
        assert line.startswith("MemoryLimitError the container (control group) of this process has 39000000 of 640000000 bytes")
        assert "ulimit" not in line
    assert "context=Context(memory_limit=...) sets another limit" in refused[0]
    assert int(limited) == 3_000_000
    assert int(small) == 249_999


def test_reads_in_a_container_that_is_not_full(tmp_path):
    assert _run(tmp_path, 41 * _MB, _READS) == ["249999", *["3000000"] * 5]


@pytest.mark.parametrize(
    ("free", "expected"), [(40, "MemoryLimitError"), (140, "20000000"), (119, "MemoryLimitError"), (60, "small")]
)
def test_sorts(tmp_path, free, expected):
    """A result of 80 MB needs them and a 16th of the limit; one of 8 MB is not checked."""
    calls = """
import numpy as np
attempt(lambda: headrace.sort(np.zeros(2_000_000 if sys.argv[2:] else 20_000_000, "u4")).size)
"""
    if expected == "small":
        calls, expected = calls.replace("sys.argv[2:]", "True"), "2000000"
    (line,) = _run(tmp_path, free * _MB, calls)
    assert line.startswith(expected)


_GROWING = """
import mmap, os, pathlib, threading, time
current = pathlib.Path(sys.argv[1]) / "sys/fs/cgroup/app/memory.current"
written = current.with_suffix(".new")

def follow():
    while True:
        resident = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
        written.write_text(str(resident))
        os.replace(written, current)
        time.sleep(0.002)

threading.Thread(target=follow, daemon=True).start()
time.sleep(0.01)
tables = []

def fill():
    while True:
        tables.append(headrace.read_csv(text, threads=1))

attempt(fill)
tables.clear()
deadline = time.monotonic() + 10
while int(current.read_text()) > 320_000_000 and time.monotonic() < deadline:  # the file follows the memory later
    time.sleep(0.002)
attempt(lambda: headrace.read_csv(text).num_rows)
"""


@pytest.mark.long
def test_tables_that_fill_a_container(tmp_path):
    full, after = _run(tmp_path, 0, _GROWING)
    assert full.startswith("MemoryLimitError the container")
    assert after == "3000000"
