"""First calls of several threads, and of several processes, at the same time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

THREADS = """
import sys, threading
import headrace
from headrace.gpu.device.device import memory_views
from headrace.gpu.kernels.compile import compile_source

sys.setswitchinterval(1e-5)
count, failed = 12, []
barrier = threading.Barrier(count)
text = 'extern "C" __global__ void f{0}(int* to) {{ *to = {0}; }}'

def first_use(number):
    try:
        barrier.wait()
        if number % 3 == 0:
            memory_views().StridedMemoryView
        assert compile_source(text.format(number), "f.cu", "sm_90").code
        assert headrace.read_csv(b"a\\n1\\n")["a"].to_pylist() == [1]
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=first_use, args=(number,)) for number in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(failed), *failed)
"""

PROCESSES = """
import multiprocessing
from headrace.gpu.kernels.source import Variant
from headrace.gpu.kernels.compile import cubin_of

def compiled(_):
    return len(cubin_of(Variant.of("primitives/copy.cu", {"HR_WIDTH": 4}), "sm_90"))

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        sizes = pool.map(compiled, range(4), chunksize=1)
    print(len(set(sizes)), min(sizes) > 0)
"""


def said(script, folder, *, environment):
    path = folder / "first.py"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, env=environment, check=False)
    return done.stdout.strip(), done.stderr


def test_first_calls_of_threads(tmp_path, environment):
    pytest.importorskip("cuda.core")
    for _ in range(3):
        assert said(THREADS, tmp_path, environment=environment) == ("0", "")


def test_first_calls_of_spawned_processes(tmp_path, environment):
    pytest.importorskip("cuda.core")
    assert said(PROCESSES, tmp_path, environment=environment) == ("1 True", "")


@pytest.fixture
def environment(tmp_path):
    """The process's own, with the package's parent folder in the path and a cache of compiled kernels that is empty."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HEADRACE_KERNEL_CACHE": str(tmp_path / "kernels")}
