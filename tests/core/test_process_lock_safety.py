"""Tests a fork while threads hold locks: the child finds none locked."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

from headrace.core.process.process_lock import process_lock


def test_a_lock_that_another_thread_holds_is_open_in_a_child():
    lock = process_lock()
    holds, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            holds.set()
            ends.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(timeout=10) else 1)
    _, status = os.waitpid(child, 0)
    assert lock.locked()  # in the parent nothing has changed
    ends.set()
    thread.join()
    assert status == 0


_FORKS = """
import os, threading
import headrace

text = b"a,b,c,d\\n" + b"1234567,12.25,some text,2020-01-01\\n" * 30_000

def read():
    return headrace.read_csv(text, threads=2, chunk_bytes=1 << 16)

def work():
    while True:
        read()

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(40):
    child = os.fork()
    if child == 0:
        os._exit(0 if read().num_rows == 30_000 else 1)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_children_read_beside_reads_of_the_parent():
    # Python 3.12 warns of any fork beside threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORKS]
    ended = subprocess.run(command, capture_output=True, timeout=200, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
