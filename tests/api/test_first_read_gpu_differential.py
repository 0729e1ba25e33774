"""First reads of a process on a GPU without compiled kernels: the CPU's answer, then that of the kernels."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.gpu

_PROGRAM = """
import time
import headrace

text = b"a,b,c\\n" + b"".join(b"%d,word %d,%d.5\\n" % (n, n % 7, n) for n in range(2000)) + b"x,y\\n"
options = {"on_error": "null", "dtypes": {"a": "int32"}, "strings": "dictionary"}
expected = headrace.read_csv(text, **options)

def read():
    found = headrace.read_csv(text, device="cuda", **options)
    assert {str(column.device) for column in found.columns.values()} == {"cuda"}
    assert found.schema == expected.schema
    assert found.to("cpu").to_pydict() == expected.to_pydict()
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    assert found.report.columns == expected.report.columns
    found.report.check()
    return found.report.device

devices, until = [read()], time.monotonic() + 60
while devices[-1] == "cpu" and time.monotonic() < until:
    time.sleep(0.2)
    devices.append(read())
print(devices[0], devices[-1])
"""


def test_a_first_read_does_not_wait_for_the_compiler(tmp_path):
    environment = os.environ | {"HEADRACE_KERNEL_CACHE": str(tmp_path), "HEADRACE_FIRST_READ": "", "HEADRACE_EXACT_KERNELS": "1"}
    command = [sys.executable, "-c", _PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "cpu cuda\n", "")
