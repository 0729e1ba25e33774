"""Tests errors without a GPU, a driver or a package, and with a card that is too old."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from headrace.core.device import Device
from headrace.core.errors import MemoryLimitError, MissingDependencyError, UnsupportedDeviceError
from headrace.gpu.device import device as gpus
from headrace.gpu.device import preload_context
from headrace.gpu.device.device import ARCHITECTURES, architecture_of


def in_process(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("capability", "name"),
    [
        *(((8, minor), "sm_80") for minor in (0, 6, 9)),
        ((9, 0), "sm_90"),
        *(((10, minor), "sm_100") for minor in (0, 3)),
        *(((12, minor), "sm_120") for minor in (0, 1)),
    ],
)
def test_cards_of_a_generation_share_an_architecture(capability, name):
    assert architecture_of(capability) == name in ARCHITECTURES


@pytest.mark.parametrize("capability", [(7, 5), (6, 0), (11, 0), (13, 0)])
def test_other_cards_are_refused_with_what_would_do(capability):
    with pytest.raises(
        UnsupportedDeviceError, match=rf"compute capability {capability[0]}\.{capability[1]} .*sm_80, .*use device='cpu'"
    ):
        architecture_of(capability)


def test_without_the_package_the_extra_is_named():
    code = "import sys; sys.modules['cuda'] = None\nfrom headrace.gpu.device.device import gpu, has_gpu\nprint(has_gpu())\ngpu()"
    said = in_process(code)
    assert said.startswith("False") and "MissingDependencyError: work on a GPU needs cuda-core" in said
    assert "pip install 'headrace[cuda13]'" in said
    assert issubclass(MissingDependencyError, ImportError)


def test_without_a_card_the_cpu_is_named():
    pytest.importorskip("cuda.core", reason="the driver is reached through the extra cuda13", exc_type=ImportError)
    said = in_process("from headrace.gpu.device.device import gpu, has_gpu\nprint(has_gpu())\ngpu()", CUDA_VISIBLE_DEVICES="")
    assert said.startswith("False") and "UnsupportedDeviceError: " in said and "use device='cpu'" in said


def test_nothing_of_cuda_is_imported_before_it_is_asked_for():
    code = (
        "import sys, headrace.gpu.kernels.kernel, headrace.gpu.kernels.build, headrace.gpu.device.device\n"
        "print([name for name in sys.modules if name.partition('.')[0] in {'cuda', 'numpy'}])"
    )
    assert in_process(code).strip() == "[]"


def test_what_takes_longest_to_import_is_not_imported_to_run_kernels():
    pytest.importorskip("cuda.core", reason="it is of the extra cuda13", exc_type=ImportError)
    code = "import sys\nfrom headrace.gpu.device.device import has_gpu\nhas_gpu()\nprint([x in sys.modules for x in WANTED])"
    assert in_process(code.replace("WANTED", "('cuda.bindings.driver', 'cuda.core')")).strip() == "[True, False]"


class NotedDriver:
    """Driver that records how a context is requested."""

    def __init__(self, refuses=""):
        self.calls, self.refuses, self.is_done = [], refuses, threading.Event()

    def __getattr__(self, name):
        def call(*args):
            self.calls.append((name, [arg for arg in args if isinstance(arg, int)]))
            if name in {self.refuses, "cuDevicePrimaryCtxRetain"}:
                self.is_done.set()
            return 100 if name == self.refuses else 0

        return call


@pytest.mark.parametrize(
    ("refuses", "calls"),
    [
        ("", [("cuInit", [0]), ("cuDeviceGet", [3]), ("cuDevicePrimaryCtxRetain", [])]),
        ("cuInit", [("cuInit", [0])]),
        ("cuDeviceGet", [("cuInit", [0]), ("cuDeviceGet", [3])]),
    ],
)
def test_a_context_is_made_once_before_it_is_needed(monkeypatch, refuses, calls):
    noted = NotedDriver(refuses)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: {"libcuda.so.1": noted}[name])
    monkeypatch.setattr(preload_context, "started_devices", set())
    for device in ("cpu", "cuda:3", "cuda:3"):
        preload_context.start_early(Device.parse(device))
    assert noted.is_done.wait(10)
    assert noted.calls == calls


def test_no_driver_is_told_to_those_who_need_it(monkeypatch):
    asked = threading.Event()

    def missing(name):
        asked.set()
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    monkeypatch.setattr(preload_context, "started_devices", set())
    preload_context.start_early(Device.parse("cuda"))
    assert asked.wait(10)


@pytest.mark.gpu
def test_a_card_is_what_the_library_says():
    from cuda.core import Device as CoreDevice

    other = CoreDevice(0)
    assert gpus.gpu(0).name == other.name
    assert gpus.gpu(0).capability == (other.compute_capability.major, other.compute_capability.minor)
    assert gpus.gpu(0).multiprocessors == other.properties.multiprocessor_count


def test_a_card_that_cannot_be_used_is_an_error_of_ours(monkeypatch):
    class Unavailable(int):
        name = "CUDA_ERROR_DEVICE_UNAVAILABLE"

    taken = SimpleNamespace(
        cuDeviceGet=lambda index: (0, index),
        cuDevicePrimaryCtxRetain=lambda handle: (Unavailable(46), None),
        cuGetErrorString=lambda status: (0, b"all CUDA-capable devices are busy or unavailable"),
    )
    monkeypatch.setattr(gpus, "driver", lambda: taken)
    monkeypatch.setattr(gpus, "gpu_count", lambda: 1)
    monkeypatch.setattr(gpus, "opened_gpus", {})
    with pytest.raises(gpus.GpuError, match="GPU 0 cannot be used: CUDA_ERROR_DEVICE_UNAVAILABLE"):
        gpus.gpu(0)
    assert not gpus.has_gpu()


def test_a_forked_process_is_told_to_be_spawned(monkeypatch):
    class NotInitialized(int):
        name = "CUDA_ERROR_NOT_INITIALIZED"

    monkeypatch.setattr(gpus, "driver", lambda: SimpleNamespace(cuGetErrorString=lambda status: (0, b"initialization error")))
    with pytest.raises(gpus.GpuError, match=r"initialization error; .* fork .* 'spawn'"):
        gpus.checked((NotInitialized(3),))


def test_a_full_gpu_is_an_error_of_memory(monkeypatch):
    class OutOfMemory(int):
        name = "CUDA_ERROR_OUT_OF_MEMORY"

    monkeypatch.setattr(gpus, "driver", lambda: SimpleNamespace(cuGetErrorString=lambda status: (0, b"out of memory")))
    with pytest.raises(MemoryLimitError, match="CUDA_ERROR_OUT_OF_MEMORY: out of memory") as caught:
        gpus.checked((OutOfMemory(2),))
    assert isinstance(caught.value, gpus.GpuError)


def test_a_driver_that_is_too_old_is_named_with_what_is_needed(monkeypatch):
    old = SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_ERROR_NO_DEVICE=100), cuInit=lambda flags: (0,), cuDriverGetVersion=lambda: (0, 12_040)
    )
    monkeypatch.setattr(gpus, "driver", lambda: old)
    with pytest.raises(UnsupportedDeviceError, match=r"driver is for CUDA 12\.4; 13\.0 or newer"):
        gpus.gpu_count()
