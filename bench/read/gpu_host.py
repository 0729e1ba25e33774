"""Measures the host's work in a `read_csv` of text on a GPU without a GPU, by a mock driver whose functions return at once.

Copies are made in host memory, and kernels are not run. If the host reads a kernel's result, it gets the CPU's result. So the
figures have Python's time, without that of the driver or the GPU. They are comparable with each other on one machine.

    python -m bench.read.gpu_host [--bytes N] [--cases taxi,int_444] [--shapes "200 columns of integers"] [--profile]
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import pstats
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

import headrace
from bench.read.cases import CASES
from bench.read.data import pieces
from bench.read.shapes.catalogue import SHAPES
from bench.read.shapes.shape import stored_text
from headrace import _native

RUNS = 300
_FIELDS = struct.Struct("=5QII")
"""Totals of the search (structure/gpu/tile_start.hpp)."""


ATTRIBUTES = {
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 9,
    "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": 0,
    "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT": 132,
}
"""Attributes of the mock GPU."""


class _Constant(int):
    value = 1


class Names:
    """Names of the driver's constants, which are all 1."""

    def __getattr__(self, name: str) -> _Constant:
        return _Constant(1)


class Driver(types.ModuleType):
    """The functions of ``cuda.bindings.driver`` that a read calls."""

    def __init__(self) -> None:
        super().__init__("cuda.bindings.driver")
        self.native = _native_driver()
        """Functions for native code (gpu_host.cpp)."""
        self._held: list[Any] = []
        self._kernels: list[bytes] = []
        self._found: dict[bytes, tuple[int, bytes]] = {}
        for name in ("CUresult", "CUmemPool_attribute", "CUevent_flags", "CUfunction_attribute", "CUmemAllocationType"):
            setattr(self, name, Names())
        self.CUpointer_attribute = self.CUmemLocationType = self.CUstream_flags = Names()
        self.CUdevice_attribute = types.SimpleNamespace(**ATTRIBUTES)
        self.CU_MEMHOSTALLOC_PORTABLE = 1

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("cu", "CU")):
            raise AttributeError(name)

        def call(*_: Any) -> tuple[int, int]:
            return 0, 0

        setattr(self, name, call)
        return call

    def CUmemPoolProps(self) -> Any:  # noqa: N802  # the driver's names
        return types.SimpleNamespace(location=types.SimpleNamespace())

    def cuStreamCreate(self, _flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, 1024

    def cuDeviceGetAttribute(self, attribute: int, _device: int) -> tuple[int, int]:  # noqa: N802
        return 0, attribute

    def cuDriverGetVersion(self) -> tuple[int, int]:  # noqa: N802
        return 0, 13000

    def cuDeviceGetCount(self) -> tuple[int, int]:  # noqa: N802
        return 0, 1

    def cuMemHostAlloc(self, nbytes: int, _flags: int) -> tuple[int, int]:  # noqa: N802
        memory = np.zeros(nbytes, np.uint8)
        self._held.append(memory)
        return 0, memory.ctypes.data

    def cuMemcpyHtoDAsync(self, to: int, source: int, nbytes: int, _stream: int) -> tuple[int]:  # noqa: N802
        ctypes.memmove(to, source, nbytes)
        return (0,)

    cuMemcpyDtoHAsync = cuMemcpyHtoDAsync  # noqa: N815

    def cuLibraryGetKernel(self, _library: Any, name: bytes) -> tuple[int, int]:  # noqa: N802
        self._kernels.append(name)
        self._tell(len(self._kernels))
        return 0, len(self._kernels)

    def find(self, expected: headrace.Table) -> None:
        """Set the results of the kernels: number of records, bytes of each string column, and values, of which none is null."""
        totals = _FIELDS.pack(len(expected), 0, 0, 0, 0, 0, 0)
        sizes = [column.values.nbytes for column in expected.columns.values() if column.type.is_string]
        strings = np.array(sizes, np.uint64).tobytes()
        self._found = {b"scan_tiles": (7, totals), b"scan_string_sizes": (3, strings), b"validate_estimate": (5, totals[:8])}
        self._found[b"count_values"] = 3, totals[:8] * len(expected.columns)
        for kernel in range(1, len(self._kernels) + 1):
            self._tell(kernel)

    def _tell(self, kernel: int) -> None:
        argument, found = self._found.get(self._kernels[kernel - 1], (0, b""))
        self.native.answer(kernel, argument, found, len(found))

    def counted(self) -> tuple[float, float, int, int]:
        """Return the times of the first and the last launch since `begin`, and the numbers of waits and launches."""
        seconds, counts = (ctypes.c_double * 2)(), (ctypes.c_uint * 2)()
        self.native.counted(seconds, counts)
        return seconds[0], seconds[1], counts[0], counts[1]


def _native_driver() -> ctypes.CDLL:
    """Compile and load gpu_host.cpp, which takes a second."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/gpu_host.so"
        source = Path(__file__).with_suffix(".cpp")
        subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", str(source), "-o", library], check=True)
        return ctypes.CDLL(library)


def install() -> Driver:
    """Replace the driver, the packages that load it, and the kernels by mocks, which need no compiler."""
    driver = Driver()
    bindings = types.ModuleType("cuda.bindings")
    sys.modules.update({"cuda": types.ModuleType("cuda"), "cuda.bindings": bindings, "cuda.bindings.driver": driver})
    from headrace.gpu.device import device
    from headrace.gpu.device.driver_calls import address_of
    from headrace.gpu.kernels import kernel, launcher
    from headrace.gpu.kernels.arguments import Layout, signature_codes
    from headrace.gpu.memory import pool, scratch
    from headrace.gpu.transfer import staging

    def layout_of(_handle: Any, _name: str, signature: str) -> Layout:
        codes = signature_codes(signature)
        sizes = [struct.calcsize("=" + code) for code in codes]
        ends = accumulate([-(-size // 8) * 8 for size in sizes], initial=0)
        return list(zip(ends, sizes, codes, strict=False))

    names = (
        "launch",
        "copy",
        "copy",
        "record",
        "wait",
        "take",
        "give_back",
        "fill",
        "current",
        "make_current",
        "launch_with",
        "wait",
        "record",
        "record",
    )
    calls = _native.CardCalls.make([address_of(getattr(driver.native, name)) for name in names])
    for module in (device, kernel, staging, pool, scratch, launcher):
        module.card_calls = lambda: calls  # type: ignore[attr-defined]
    kernel.layout_of = layout_of
    kernel.find_cubin = lambda variants, _: (variants[0], bytes)
    return driver


class Text:
    """Host bytes with the interface of GPU memory."""

    def __init__(self, data: bytes) -> None:
        self.held = np.frombuffer(data + bytes(64), np.uint8)[: len(data)]
        self._data = self.held.ctypes.data, False  # cached, since NumPy takes longer for it than GPU libraries

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        shape = (len(self.held),)
        return {"shape": shape, "typestr": "|u1", "data": self._data, "strides": None, "stream": 1, "version": 3}


def phases(driver: Driver, text: Text, options: dict[str, Any]) -> dict[str, float]:
    """Return the phases of a read in microseconds: total, before the first launch, to the last, after it; waits, launches."""
    driver.native.begin()
    begun = time.monotonic()
    headrace.read_csv(text, **options)
    done = time.monotonic()
    first, last, waits, launches = driver.counted()
    found = {"all": done - begun, "first": first - begun, "launches": last - first, "behind": done - last}
    return {name: seconds * 1e6 for name, seconds in found.items()} | {"waits": waits, "launched": launches}


def texts(cases: str, shapes: str, size: int) -> Iterator[tuple[str, bytes, dict[str, Any]]]:
    """Return name, text and options of each case (separated by commas) and of each shape (by semicolons)."""
    for name in filter(None, cases.split(",")):
        case = CASES[name]
        header, body = pieces(case)
        body = (body * (size // len(body) + 1))[:size]
        yield name, header + body[: body.rindex(b'"\n' if case.quotes else b"\n") + 1 + case.quotes], case.options
    for name in filter(None, shapes.split(";")):
        yield name, stored_text(SHAPES[name], size), SHAPES[name].read_options


def main() -> None:
    """Measure the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--cases", default="int_444,taxi_small,taxi_inferred,lineitem,quoted,wide")
    parser.add_argument("--shapes", default="", help="names of bench.read.shapes, separated by semicolons")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    driver = install()
    print("| case | host, us: median | least | to the first launch | to the last | behind it | waits | launches |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, data, options in texts(given.cases, given.shapes, given.bytes):
        expected = headrace.read_csv(data, **options)
        driver.find(expected)
        text = Text(data)
        assert len(headrace.read_csv(text, **options)) == len(expected)
        found = [phases(driver, text, options) for _ in range(RUNS)]
        least = [min(one[key] for one in found) for key in ("all", "first", "launches", "behind", "waits", "launched")]
        median = statistics.median(one["all"] for one in found)
        print(f"| {name} | {median:.0f} | {' | '.join(f'{one:.0f}' for one in least)} |", flush=True)
        if given.profile:
            profile = cProfile.Profile()
            profile.enable()
            for _ in range(RUNS):
                headrace.read_csv(text, **options)
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
