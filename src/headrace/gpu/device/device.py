"""Opens the GPUs of this machine, and reports why one cannot be used: no package, no driver, no GPU, or one that is too old.

The driver is called through ``cuda.bindings``, because ``cuda.core`` takes 200 to 300 ms to import, half of a first read. Nothing
is imported or started before a GPU is requested. A GPU's context is its primary one, which CuPy and PyTorch use too, so their
arrays are accessible without a copy.
"""

from __future__ import annotations

import importlib
import time
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from headrace.core.device import Device
from headrace.core.errors import HeadraceError, MemoryLimitError, MissingDependencyError, UnsupportedDeviceError
from headrace.core.process.process_lock import process_lock
from headrace.gpu.device.driver_calls import card_calls

ARCHITECTURES = ("sm_80", "sm_90", "sm_100", "sm_120")
"""Targets of compilation. Each runs on GPUs of the same major compute capability, from its minor one on."""
LARGE_BLOCKS = frozenset({(8, 0), (9, 0), (10, 0)})
"""Compute capabilities whose blocks may have more than 128 KiB of shared memory. The limit of the others is 99 KiB."""


NAMED_STREAMS = 2  # handles up to this one name the default streams, which belong to the current context
PER_THREAD_STREAM = 2  # handle of the per-thread default stream, which differs from thread to thread


def is_lasting(stream: int | None) -> bool:
    """Return whether a caller's stream is the default stream: the same in all threads, and never destroyed.

    Memory and results that outlive a call belong to such a stream, or to the GPU's own.
    """
    return stream is not None and stream < PER_THREAD_STREAM


_NAME_BYTES = 256
_MIN_DRIVER = 13_000  # CUDA 13.0 in the driver's notation. Older drivers do not load cubins of NVRTC 13.


class GpuError(HeadraceError, RuntimeError):
    """The driver refused a call, or a kernel failed on the GPU."""


class GpuMemoryError(GpuError, MemoryLimitError):
    """The GPU has too little memory to load a kernel or to start it."""


@cache
def memory_views() -> ModuleType:
    """Import ``cuda.core.utils``, which views arrays of DLPack.

    Raise MissingDependencyError if it is not installed, or it lacks the bindings of CUDA 13.
    """
    _module("cuda.core", "ProgramOptions")
    return _module("cuda.core.utils", "StridedMemoryView")


@cache
def driver() -> ModuleType:
    """Import the driver's functions from ``cuda.bindings``. Raises as `memory_views` does."""
    return _module("cuda.bindings.driver", "cuInit")


@cache
def compiler() -> ModuleType:
    """Import the compiler's functions from ``cuda.bindings``.

    Raise MissingDependencyError if ``cuda.bindings`` or NVRTC is not installed.
    """
    functions = _module("cuda.bindings.nvrtc", "nvrtcVersion")
    try:
        functions.nvrtcVersion()  # loads the library
    except RuntimeError as error:  # cuda.pathfinder's own class: there is no libnvrtc
        raise MissingDependencyError.of("NVRTC", "cuda13", "compiling a kernel") from error
    return functions


_importing = process_lock()
_IMPORT_SECONDS = 60


def _module(name: str, last: str) -> ModuleType:
    """Import a module, one thread at a time. `last`: a name that the module has once it is complete.

    During its import, ``cuda.core`` replaces its own ``__spec__``, so other threads get the incomplete module from the import
    system. The lock orders the threads of this package. If another library has begun the import, this function polls for `last`.
    """
    with _importing:
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            raise MissingDependencyError.of("cuda-core", "cuda13", "work on a GPU") from error
        begun = time.monotonic()
        while not hasattr(module, last) and time.monotonic() - begun < _IMPORT_SECONDS:
            time.sleep(0.001)
        return module


def checked(result: tuple[Any, ...]) -> Any:
    """Return the result of a driver call without its status.

    Raise GpuError if the call failed; `GpuMemoryError` if the GPU has no memory left.
    """
    status = result[0]
    if status:
        kind = GpuMemoryError if status.name == "CUDA_ERROR_OUT_OF_MEMORY" else GpuError
        raise kind(f"{status.name}: {_meaning(status)}")
    return result[1] if len(result) == 2 else result[1:]


def check_status(status: int) -> None:
    """Raise `GpuError` if a driver status that native code returned is an error."""
    if status:
        checked((driver().CUresult(status),))


def _meaning(status: Any) -> str:
    _, text = driver().cuGetErrorString(status)
    meaning = (text or b"unknown error").decode()
    if status.name == "CUDA_ERROR_NOT_INITIALIZED":  # a forked process gets it for all handles of its parent
        return f"{meaning}; a GPU that was used before a fork is of no use behind it: start processes by 'spawn'"
    return meaning


def gpu_count() -> int:
    """Return the number of GPUs.

    Raise MissingDependencyError if ``cuda.bindings`` is not installed. Raise UnsupportedDeviceError if there is no NVIDIA
    driver, or it finds no GPU.
    """
    functions = driver()
    try:
        status, *_ = functions.cuInit(0)
    except RuntimeError as error:  # cuda.pathfinder's own class: there is no libcuda
        raise UnsupportedDeviceError("this machine has no NVIDIA driver (libcuda.so.1); use device='cpu'") from error
    if int(status) == int(functions.CUresult.CUDA_ERROR_NO_DEVICE):
        raise UnsupportedDeviceError("the NVIDIA driver finds no GPU (is CUDA_VISIBLE_DEVICES empty?); use device='cpu'")
    if int(status) != 0:
        raise UnsupportedDeviceError(f"the NVIDIA driver does not start: {status.name}; use device='cpu'")
    release = checked(functions.cuDriverGetVersion())
    if release < _MIN_DRIVER:
        found = f"{release // 1000}.{release % 1000 // 10}"
        raise UnsupportedDeviceError(f"the NVIDIA driver is for CUDA {found}; 13.0 or newer is needed, or device='cpu'")
    count: int = checked(functions.cuDeviceGetCount())
    return count


@cache
def start_driver() -> None:
    """Initialise the driver, once in a process and before any other call of it. Raises as `gpu_count` does."""
    gpu_count()


def has_gpu() -> bool:
    """Return whether there is a usable GPU."""
    try:
        return gpu_count() > 0 and architecture_of(gpu(0).capability) != ""
    except (MissingDependencyError, UnsupportedDeviceError, GpuError):
        return False


def architecture_of(capability: tuple[int, int]) -> str:
    """Return the one of `ARCHITECTURES` that runs on a GPU of that compute capability.

    Raise UnsupportedDeviceError if none of them does.

    >>> architecture_of((9, 0)), architecture_of((8, 9)), architecture_of((12, 1))
    ('sm_90', 'sm_80', 'sm_120')
    """
    major, minor = capability
    for name in ARCHITECTURES:
        number = int(name.removeprefix("sm_"))
        if (number // 10, 0) <= (major, minor) and number // 10 == major:
            return name
    wanted = ", ".join(ARCHITECTURES)
    raise UnsupportedDeviceError(
        f"a GPU of compute capability {major}.{minor} is not supported: kernels are made for {wanted} and what is compatible; "
        "use device='cpu'"
    )


class Gpu:
    """A GPU with its context, its architecture and one stream of this package. `gpu` returns the one with a given index.

    `index`: the driver's index of the GPU. Raises GpuError if the GPU exists but cannot be used: another process has
    exclusive access, or all of its memory.
    """

    def __init__(self, index: int) -> None:
        functions = driver()
        self.index = index
        self.device = Device("cuda", index)
        try:
            self._handle = checked(functions.cuDeviceGet(index))
            self._context = checked(functions.cuDevicePrimaryCtxRetain(self._handle))
            with self.current():
                self.stream = int(checked(functions.cuStreamCreate(functions.CUstream_flags.CU_STREAM_NON_BLOCKING.value)))
            """Handle of the stream for work whose caller gives none. It does not synchronise with the default stream."""
        except GpuError as error:
            raise GpuError(f"GPU {index} cannot be used: {error}") from error

    @cached_property
    def name(self) -> str:
        """The vendor's name."""
        name: bytes = checked(driver().cuDeviceGetName(_NAME_BYTES, self._handle))
        return name.partition(b"\0")[0].decode()

    @cached_property
    def capability(self) -> tuple[int, int]:
        """Compute capability, such as (9, 0)."""
        return self._number("COMPUTE_CAPABILITY_MAJOR"), self._number("COMPUTE_CAPABILITY_MINOR")

    @cached_property
    def architecture(self) -> str:
        """The one of `ARCHITECTURES` that its kernels are compiled for."""
        return architecture_of(self.capability)

    @cached_property
    def multiprocessors(self) -> int:
        """Number of multiprocessors."""
        return self._number("MULTIPROCESSOR_COUNT")

    @cached_property
    def total_memory(self) -> int:
        """Bytes of its memory."""
        return int(checked(driver().cuDeviceTotalMem(self._handle)))

    def _number(self, attribute: str) -> int:
        functions = driver()
        named = getattr(functions.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
        return int(checked(functions.cuDeviceGetAttribute(named, self._handle)))

    @property
    def context(self) -> Any:
        """The driver's handle of its primary context."""
        return self._context

    def make_current(self) -> None:
        """Make its context current for this thread, permanently. Only threads that this package started may call it."""
        checked(driver().cuCtxSetCurrent(self._context))

    def current(self) -> CurrentContext:
        """Return a context manager that makes its context current for this thread, and restores the previous one at the end.

        Other libraries depend on the current context: ``torch.empty(..., device="cuda")`` uses it.
        """
        return CurrentContext(int(self._context))

    def synchronize(self) -> None:
        """Wait for all work on this GPU. Raise GpuError if a kernel failed."""
        with self.current():
            checked(driver().cuCtxSynchronize())

    def __repr__(self) -> str:
        major, minor = self.capability
        return f"Gpu({self.index}: {self.name}, compute capability {major}.{minor})"


class CurrentContext:
    """A context manager in which a CUDA context is current for this thread. `context`: the driver's handle."""

    __slots__ = ("_before", "_context")

    def __init__(self, context: int) -> None:
        self._context = context
        self._before: int | None = None  # what to restore; 0 is no context

    def __enter__(self) -> None:
        status, self._before = card_calls().switch_context(self._context)
        check_status(status)

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            check_status(card_calls().switch_context(self._before)[0])


opened_gpus: dict[int, Gpu] = {}
_gpus_lock = process_lock()


def gpu(device: Device | int = 0) -> Gpu:
    """Return the GPU of an index or a device.

    Raise MissingDependencyError if ``cuda.bindings`` is not installed. Raise UnsupportedDeviceError if there is no driver, or
    no such GPU. Raise GpuError if the GPU cannot be used now.
    """
    index = device.index if isinstance(device, Device) else device
    found = opened_gpus.get(index)
    if found is None:
        with _gpus_lock:
            found = opened_gpus.get(index)
            if found is None:
                count = gpu_count()
                if not 0 <= index < count:
                    raise UnsupportedDeviceError(f"there is no GPU {index}: this machine has {count}, counted from 0")
                found = opened_gpus[index] = Gpu(index)
    return found
