"""Compiles and runs the kernel of docs/guide/gpu.md, which searches a hash map."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace
from headrace import Context, HashMap, UnsupportedDeviceError
from headrace.testing.fibers import program
from headrace.testing.fibers.launch import Checks
from headrace.testing.fibers.launcher import FiberLauncher
from tests.index.hash_map.slab_hash_cases import FiberMap

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "gpu.md"


def example() -> str:
    """Return the Python code of the page that compiles and launches the kernel."""
    found = re.search(r"```python no-run\n(from cuda\.core.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def kernel_source() -> str:
    """Return the kernel of the page."""
    return example().split('"""')[1]


@pytest.mark.fibers
def test_the_example_in_the_guide() -> None:
    launcher = FiberLauncher("random", 3)
    table = FiberMap.of((4, 8), launcher)
    table.upsert(np.arange(1000).astype("f4"), np.arange(1000), "last")
    keys, total = np.arange(500, 1500).astype("f4").view("u4"), np.zeros(1, np.uint64)
    memory = table.map.memory
    reachable = tuple(buffer.array for buffer in (memory.slabs, memory.bitmaps))  # type: ignore[attr-defined]
    ref = np.frombuffer(memory.packed, np.uint8).copy()
    args = [ref, keys, len(keys), total]
    program(text=kernel_source()).launch("sum_values", 8, 128, args, order="random", seed=1, checks=Checks(reachable=reachable))
    assert total.tolist() == [sum(range(500, 1000))]


def test_the_example_compiles() -> None:
    core = pytest.importorskip("cuda.core", reason="NVRTC comes with the extra cuda13", exc_type=ImportError)
    compiler: Any = import_module("headrace.gpu.device.device").compiler
    try:
        compiler()
    except headrace.MissingDependencyError:
        pytest.skip("NVRTC is not installed")
    options = core.ProgramOptions(std="c++20", arch="sm_90", include_path=[headrace.include_path()])
    assert core.Program(kernel_source(), "c++", options).compile("cubin").code


@pytest.mark.gpu
def test_the_example_runs() -> None:
    exec(compile(example(), str(PAGE), "exec"), {"np": np, "headrace": headrace})  # the page itself asserts the sum


@pytest.mark.gpu
def test_the_example_runs_by_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    kernel = cupy.RawKernel(kernel_source(), "sum_values", options=("-std=c++20", "-I" + headrace.include_path()))
    stock = HashMap("int32", "int64", context=Context(device="cuda"))
    stock.insert(range(1000), range(1000))
    keys, total, ref = cupy.arange(500, 1500, dtype="i4"), cupy.zeros(1, "u8"), stock.device_ref()
    cupy.cuda.Device().synchronize()
    kernel((8,), (128,), (cupy.asarray(ref.table), keys, np.uint64(1000), total))
    assert total.get().tolist() == [sum(range(500, 1000))]


def test_maps_of_the_cpu_have_no_ref() -> None:
    with pytest.raises(UnsupportedDeviceError, match="kernels cannot use a map on the CPU"):
        HashMap("int32", "int32", context=Context()).device_ref()
