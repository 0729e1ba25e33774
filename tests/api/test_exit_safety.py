"""Tests the end of the interpreter while daemon threads read, scan, write and sort: exit code 0 and empty stderr."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

_PROGRAM = """
import io, threading, time
import headrace
import numpy as np

class Batches:
    def __arrow_c_stream__(self, requested_schema=None):
        return headrace.scan_csv(text, batch_bytes=1 << 16).__arrow_c_stream__()

def work():
    while True:
        {call}
        running.set()

text = b"a,b,c\\n" + b"12,hello,1.5\\n" * 100_000
table = headrace.read_csv(text)
keys = np.random.default_rng(1).integers(0, 1 << 60, 1_000_000)
narrow_keys = keys.astype(np.int32)
running = threading.Event()
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
running.wait()
{end}
"""

_CALLS = {
    "read_csv": "headrace.read_csv(text)",
    "read_csv on one thread": "headrace.read_csv(text, context=headrace.Context(threads=1))",
    "read_csv with progress": "headrace.read_csv(text, progress=lambda done, total: None)",
    "read_csv of a stream": "headrace.read_csv(io.BytesIO(text))",
    "scan_csv": "for batch in headrace.scan_csv(text, batch_bytes=1 << 16): pass",
    "write_csv": "headrace.write_csv(table)",
    "write_csv of Python batches": "headrace.write_csv(Batches())",
    "sort": "headrace.sort(keys)",
    "argsort": "headrace.argsort(keys)",
    "histogram": "headrace.bucket_counts(keys, bins=100)",
    "reduce": "headrace.reduce(narrow_keys)",
    "filter": "table.filter(headrace.col('a') > 1)",
    "count": "headrace.count(text, b'hello')",
    "sniff_csv": "headrace.sniff_csv(text)",
}


def _program(call: str, end: str) -> list[str]:
    return [sys.executable, "-c", _PROGRAM.format(call=_CALLS[call], end=end)]


_IN_NATIVE_CODE = """
import sys, threading, time
import headrace
{setup}

class Late:
    def __del__(self):
        time.sleep(0.3)  # the interpreter is ending, and waits without the GIL

def wait_in_native_code():
    running.set()
    for _ in range(100):
        time.sleep(0.003)

late, running = Late(), threading.Event()
threading.Thread(target=lambda: {call}, daemon=True).start()
assert running.wait(60)
"""

_NATIVE_CALLS = {
    "import of the native part": (
        """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "atexit":  # the native part's import imports it
            wait_in_native_code()

sys.modules.pop("atexit", None)
sys.meta_path.insert(0, Finder())
""",
        "headrace.read_csv(b'a')",
    ),
    "import of a native function": (
        """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "atexit":
            wait_in_native_code()

sys.modules.pop("atexit", None)
sys.meta_path.insert(0, Finder())
""",
        "headrace.release_unused_memory()",
    ),
    "automaton of a dialect": (
        """
from headrace import _native

class Dialect(headrace.Dialect):
    @property
    def automaton(self):
        wait_in_native_code()
""",
        "_native.Dialect.make(Dialect())",
    ),
    "attribute of an argument": (
        """
from headrace import _native

class Dialect:
    @property
    def sep(self):
        wait_in_native_code()
""",
        "_native.Dialect.make(Dialect())",
    ),
}


@pytest.mark.parametrize("name", _NATIVE_CALLS)
def test_python_code_inside_native_code_ends_without_a_word(name):
    setup, call = _NATIVE_CALLS[name]
    command = [sys.executable, "-c", _IN_NATIVE_CODE.format(setup=setup, call=call)]
    ended = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.covering(default=0)
@pytest.mark.long_except("read_csv", "scan_csv", "sort", "write_csv", "reduce")
@pytest.mark.parametrize("call", _CALLS)
def test_daemon_threads_end_without_a_word(call):
    for sleep in (0.0, 0.03):
        ended = subprocess.run(_program(call, f"time.sleep({sleep})"), capture_output=True, timeout=120, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


@pytest.mark.parametrize("call", ["read_csv", "scan_csv", "sort"])
def test_an_interrupt_in_join_is_the_only_error(call):
    started = subprocess.Popen(
        _program(call, "print('joins', flush=True)\nthreads[0].join()"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"joins\n"
    time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    _, errors = started.communicate(timeout=120)
    assert errors.endswith(b"KeyboardInterrupt\n")
    assert errors.count(b"Traceback") == 1
    assert started.returncode == -signal.SIGINT
