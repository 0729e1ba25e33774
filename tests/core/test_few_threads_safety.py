"""Tests a system that refuses threads: calls give the same results on the available threads, without a crash or a hang."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import gzip, io, os, resource, sys
import headrace
import numpy as np

text = b"a,b\\n" + b"".join(b"%d,text %d\\n" % (i, i) for i in range(200_000))
packed = gzip.compress(text, 1)
keys = np.random.default_rng(1).integers(0, 1 << 60, 400_000)
expected = np.sort(keys)
table = headrace.read_csv(text)
calls = [
    lambda context: headrace.read_csv(text, context=context).num_rows == 200_000,
    lambda context: headrace.read_csv(io.BytesIO(packed), context=context).num_rows == 200_000,
    lambda context: sum(batch.num_rows for batch in headrace.scan_csv(text, batch_bytes=1 << 18, context=context)) == 200_000,
    lambda context: headrace.scan_csv(io.BytesIO(packed), batch_bytes=1 << 18, context=context).read().num_rows == 200_000,
    lambda context: headrace.write_csv(table, None) == text,
    lambda context: gzip.decompress(headrace.write_csv(table, None, compression="gzip")) == text,
    lambda context: (headrace.sort(keys, context=context) == expected).all(),
    lambda context: (keys[headrace.argsort(keys, context=context)] == expected).all(),
]
for call in calls:  # imports what it needs: a user without rights may not be able to read the modules
    assert call(headrace.Context(threads=1))
{limit}
context = headrace.Context(threads={threads})
before = len(os.listdir("/proc/self/task"))
for _ in range(3):
    for call in calls:
        try:
            assert call(context)
        except MemoryError:
            assert {may_lack_memory}
print(len(os.listdir("/proc/self/task")) - before)
"""

_NO_PROCESSES = """
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
if os.getuid() == 0:  # whom no limit binds
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""

_ADDRESS_SPACE = """
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28), resource.RLIM_INFINITY))
"""


@pytest.mark.covering(default=0)
@pytest.mark.parametrize(("limit", "threads"), [(_NO_PROCESSES, 8), (_ADDRESS_SPACE, 500)], ids=["processes", "address space"])
def test_calls_do_with_the_threads_there_are(limit, threads):
    # Stacks of threads may take the address space that a result needs.
    program = _PROGRAM.format(limit=limit, threads=threads, may_lack_memory=limit == _ADDRESS_SPACE)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=300, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert int(ended.stdout) < threads - 1  # the caller's own is there already
