"""Tests that a child has whole maps and free locks, although another thread was changing them when the process was forked."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import os, signal, sys, threading
import numpy as np
import headrace

table = {making}
keys = {keys}
values = [] if {has_keys_alone} else [np.arange(len(keys))]
begun, is_ended = threading.Event(), False

def change():
    while not is_ended:
        table.insert(keys, *values)
        begun.set()
        if {clears}:
            table.clear()

thread = threading.Thread(target=change)
thread.start()
begun.wait(60)
codes = []
while len(codes) < 3 and not any(codes):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits forever
        table.insert(keys[:1], *[one[:1] for one in values])
        os._exit(0 if len(table) in {sizes} and keys[0] in table else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
is_ended = True
thread.join()
sys.exit(any(codes))
"""
_NUMBERS = "np.arange(1 << 18)"
_TEXTS = "[str(number) for number in range(5000)]"


@pytest.mark.parametrize(
    ("making", "keys", "has_keys_alone", "clears", "sizes"),
    [
        ("headrace.HashMap('int64', 'int64')", _NUMBERS, False, False, "[1 << 18]"),
        ("headrace.HashSet('int64')", _NUMBERS, True, False, "[1 << 18]"),
        ("headrace.HashMultiMap('int64', 'int64')", _NUMBERS, False, True, "[1, (1 << 18) + 1]"),
        ("headrace.HashMap('string', 'int64')", _TEXTS, False, False, "[5000]"),
        ("headrace.SortedMap('int64', 'int64')", _NUMBERS, False, False, "[1 << 18]"),
    ],
    ids=["map", "set", "multimap", "texts", "sorted"],
)
def test_a_child_has_the_map_between_two_changes(making: str, keys: str, has_keys_alone: bool, clears: bool, sizes: str) -> None:
    program = _PROGRAM.format(making=making, keys=keys, has_keys_alone=has_keys_alone, clears=clears, sizes=sizes)
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, timeout=120, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


_HOOKS = """
import os, signal, sys

tables = []
def use():
    for table in tables:
        table.insert([len(table)], [0])

os.register_at_fork(before=use, after_in_parent=use, after_in_child=use)
import headrace
signal.alarm(20)
tables.append(headrace.HashMap('int64', 'int64'))
child = os.fork()
if child == 0:
    signal.alarm(20)
    use()
    os._exit(len(tables[0]))
used = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
use()
sys.exit((used, len(tables[0])) != (3, 3))
"""


def test_hooks_of_a_fork_that_use_a_map_do_not_wait_for_the_fork() -> None:
    """Those that were registered before the package run while it holds other threads' calls back."""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", _HOOKS], capture_output=True, timeout=120, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
