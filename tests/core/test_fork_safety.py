"""Tests that a fork finds no import of this package under way in another thread."""

from __future__ import annotations

import subprocess
import sys

_FORK_IN_AN_IMPORT = """
import importlib.abc, os, sys, threading, time
import headrace

MODULE = "headrace.api.load.read_report"  # imported by a read
begun = threading.Event()

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == MODULE:
            begun.set()
            time.sleep(0.3)  # the thread holds the lock of the module's import

sys.meta_path.insert(0, Slow())

def report():
    return headrace.read_csv(b"a\\n1\\n").report.rows

threading.Thread(target=report).start()
assert begun.wait(60)
child = os.fork()
if child == 0:
    os._exit(0 if report() == 1 else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_waits_for_the_import_of_another_thread():
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORK_IN_AN_IMPORT]
    ended = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
