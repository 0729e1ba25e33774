"""Bounds the time that an import takes, and what it imports."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

_MAX_SECONDS = 0.2
"""Some ten times the processor time of an import on an idle machine."""


def seconds_of(code):
    """Return the processor time of a new interpreter that executes `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_an_import_takes_little_time():
    assert min(seconds_of("import headrace") - seconds_of("pass") for _ in range(2)) < _MAX_SECONDS


def test_an_import_loads_no_reader():
    loaded = "{'headrace.api.table', 'headrace._native', 'numpy', 'dataclasses'} & set(sys.modules)"
    assert seconds_of(f"import sys, headrace; assert not {loaded}") > 0
