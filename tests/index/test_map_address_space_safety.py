"""Fills maps in a process with little address space (`ulimit -v`): an insert is complete, or an error and a map as before."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import numpy as np
import headrace

name, threads = sys.argv[1], int(sys.argv[2])
context = headrace.Context(threads=threads)
is_set = name == "HashSet"
table = getattr(headrace, name)("int64", *([] if is_set else ["int64"]), context=context)
count = 1 << 20
keys = np.random.default_rng(1).permutation(count)
columns = (keys,) if is_set else (keys, keys + 1)
table.insert(*(column[:1000] for column in columns))

def listed(items):
    return [column.tolist() for column in ((items,) if is_set else items)]

before = listed(table.items())
size, refused = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize(), 0
for more in (4, 12, 24, 40, 60, 2000):
    resource.setrlimit(resource.RLIMIT_AS, (size + (more << 20), resource.RLIM_INFINITY))
    try:
        table.insert(*columns)
        break
    except headrace.MemoryLimitError:
        refused += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert listed(table.snapshot().items()) == before
assert refused and len(table) == count + (1000 if name == "HashMultiMap" else 0)
print("complete after", refused, "errors")
"""


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("name", ["HashMap", "HashSet", "HashMultiMap", "SortedMap"])
@pytest.mark.parametrize("threads", [1, 2])
def test_maps_without_address_space_are_as_before(name: str, threads: int) -> None:
    command = [sys.executable, "-c", PROGRAM, name, str(threads)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("complete after")
