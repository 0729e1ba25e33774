"""Loads kernels of the package and launches them.

A program is compiled (compile.py), cached on disk (cache.py), and loaded on the first use of one of its kernels. A kernel knows
the layout of its parameters, so a launch is one native call that packs the arguments and calls the driver (gpu/bindings.cpp).

Cost on an H200: 3.6 to 4.7 us a launch. The first call of a process takes 10 ms if the cubin is cached, and 80 to 105 ms if it is
compiled (bench/results/h200/2026-11-21-limits.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextvars import copy_context
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _native
from headrace.core.process.process_lock import process_lock
from headrace.gpu.device.device import NAMED_STREAMS, Gpu, GpuError, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.kernels.arguments import layout_of
from headrace.gpu.kernels.child_compile import NotCompiledError, uses_children
from headrace.gpu.kernels.compile import find_cubin
from headrace.gpu.kernels.source import KernelSourceError, Value, Variant

if TYPE_CHECKING:
    from concurrent.futures import Future

Dimensions = int | tuple[int, int, int]


class _Call(NamedTuple):
    """Arguments of the native launch: configuration, stream and kernel arguments."""

    grid: Dimensions
    block: Dimensions
    shared: int
    stream: int
    args: Sequence[Any]


class LaunchMode(IntEnum):
    """Ordering of a launch relative to others on the device."""

    ORDERED = 0  # begins when the preceding launch of its stream has ended
    EARLY = 1  # may begin before that; the kernel itself waits (programmatic dependent launch, gpu/block/dependent_launch.cuh)
    COOPERATIVE = 2
    """All blocks become resident together or none does, so they may wait for each other (grid_barrier.cuh).

    Without it, two such launches in different streams could each occupy multiprocessors that the other's missing blocks need.
    """


class Kernel:
    """A kernel on a device.

    Parameters
    ----------
    handle
        The driver's handle.
    name
        Entry point.
    signature
        A letter of `struct` for each parameter: ``P`` a pointer, ``q`` and ``Q`` 64 bits, ``i`` and ``I`` 32, ``d`` and ``f``
        floating point, ``16s`` sixteen bytes of a structure.
    gpu
        The device.
    mode
        Launch mode.
    """

    __slots__ = ("_call", "_handle", "_is_loaded", "_shared", "gpu", "name")

    def __init__(self, handle: Any, name: str, signature: str, gpu: Gpu, *, mode: LaunchMode = LaunchMode.ORDERED) -> None:
        self.name = name
        self.gpu = gpu
        self._handle = handle
        self._call = _native.KernelCall(card_calls(), int(handle), layout_of(handle, name, signature), int(mode))
        self._is_loaded = False  # whether `load` was called
        self._shared = 0  # bytes of dynamic shared memory that the driver is known to allow

    def launch(
        self,
        grid: Dimensions,
        block: Dimensions,
        args: Sequence[Any],
        *,
        shared: int = 0,
        stream: int | None = None,
        is_current: bool = False,
    ) -> None:
        """Enqueue the kernel in a stream.

        Raise GpuError if the driver refuses the launch: too many threads, too much shared memory, or an earlier kernel
        failed. Raise TypeError, ValueError or OverflowError if the arguments do not match the signature.

        Parameters
        ----------
        grid, block
            Blocks of the grid and threads of a block: one number or three.
        args
            For each parameter a number, the bytes of a structure, an object with an ``address``, or None for a null pointer.
        shared
            Dynamic shared memory of a block, in bytes.
        stream
            Handle of the stream; None for the device's default stream of this package.
        is_current
            Whether the caller has made the device current.
        """
        if shared > self._shared:
            self._allow_shared(shared)
        if stream is None:
            stream = self.gpu.stream
        call = grid, block, shared, stream, args
        if stream <= NAMED_STREAMS and not is_current:
            with self.gpu.current():
                status = self._call.launch(*call)
        else:
            status = self._call.launch(*call)
        if status:
            self._retry(_Call(*call), status)

    def load(self) -> None:
        """Load the code into the current context, as the first launch does otherwise."""
        if not self._is_loaded:
            checked(driver().cuKernelGetFunction(self._handle))
            self._is_loaded = True

    def prepare(self, grid: Dimensions, block: Dimensions, args: Sequence[Any], shared: int) -> Prepared:
        """Return a launch for `launch_all`; parameters as for `launch`."""
        if shared > self._shared:
            self._allow_shared(shared)
        return self._call, grid, block, shared, args, self

    def _retry(self, call: _Call, status: int) -> None:
        """Launch again with the device's context current: a new thread has none, and other libraries change it."""
        names = driver().CUresult
        if status in {names.CUDA_ERROR_INVALID_CONTEXT, names.CUDA_ERROR_INVALID_HANDLE, names.CUDA_ERROR_CONTEXT_IS_DESTROYED}:
            with self.gpu.current():
                status = self._call.launch(*call)
        if status:
            try:
                checked((names(status),))
            except GpuError as error:
                raise type(error)(
                    f"kernel {self.name}, grid {call.grid}, block {call.block}, {call.shared} bytes shared: {error}"
                ) from None

    def _allow_shared(self, shared: int) -> None:
        """Raise the driver's limit; never lower it, since other threads and objects may launch the same kernel."""
        functions = driver()
        attribute = functions.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with _allowing:
            allowed = checked(functions.cuKernelGetAttribute(attribute, self._handle, self.gpu.index))
            if shared > allowed:
                checked(functions.cuKernelSetAttribute(attribute, shared, self._handle, self.gpu.index))
            self._shared = max(shared, allowed)

    def __repr__(self) -> str:
        return f"Kernel({self.name} on {self.gpu!r})"


Prepared = tuple[_native.KernelCall, Dimensions, Dimensions, int, Sequence[Any], Kernel]


def launch_all(launches: list[Prepared], stream: int) -> None:
    """Launch kernels in order on the current device; errors as for `Kernel.launch`."""
    launched, status = _native.launch_all(launches, stream)
    if status:
        _, grid, block, shared, args, failed = launches[launched]
        failed._retry(_Call(grid, block, shared, stream, args), status)  # noqa: SLF001  # this is the kernels' own
        launch_all(launches[launched + 1 :], stream)


_allowing = process_lock()
_MIN_DRIVER = 13000
_EARLY_FROM = 9, 0  # lowest compute capability with programmatic dependent launch


_libraries: dict[tuple[Variant, str], Any] = {}
_loading: dict[tuple[Variant, str], Future[Any]] = {}  # programs that threads of `load_programs` load
_finding = process_lock()
"""Held until a program is found, or is about to enter the compiler. NVRTC parses one program at a time, so the program that
takes longest has to enter it first.
"""
_kernels: dict[tuple[Any, ...], Kernel] = {}


def kernel(
    file: str, entry: str, signature: str, defines: Mapping[str, Value], gpu: Gpu, *, mode: LaunchMode = LaunchMode.ORDERED
) -> Kernel:
    """Return a kernel of the package, loaded; later calls with the same arguments return the same object.

    Raise OptionError if the list beside the file does not have the variant. Raise KernelSourceError if the signature does not
    match the kernel, or the file has no such kernel. Raise MissingDependencyError if the program must be compiled and NVRTC
    is not installed. Raise GpuError if the driver rejects the cubin because it is older than the compiler.

    Parameters
    ----------
    file
        File, such as ``"primitives/copy.cu"``.
    entry
        Entry point.
    signature
        Types of the parameters, as for `Kernel`.
    defines
        Macros and their values, as listed beside the file (`source.LISTS`).
    gpu
        The device.
    mode
        Launch mode. Devices without programmatic dependent launch use `ORDERED` for `EARLY`.
    """
    name = (file, entry, signature, *defines.items(), gpu.index, mode)
    found = _kernels.get(name)
    if found is None:
        variant = Variant.of(file, defines)
        # Two threads may both get here; both kernels work, and one of them stays in the table.
        if mode is LaunchMode.EARLY and gpu.capability < _EARLY_FROM:
            mode = LaunchMode.ORDERED
        with gpu.current():
            found = _kernels[name] = Kernel(_loaded(variant, entry, gpu.architecture), entry, signature, gpu, mode=mode)
    return found


def _driver_in_words() -> str:
    """Describe the driver's version: a cubin needs a driver of its compiler's generation or newer."""
    version = checked(driver().cuDriverGetVersion())
    named = f"the driver, which is for CUDA {version // 1000}.{version % 1000 // 10}"
    return named if version >= _MIN_DRIVER else f"{named} (13.0 or newer is needed)"


def _loaded(variant: Variant, entry: str, architecture: str) -> Any:
    """Return the driver's handle of a kernel. A library is loaded once for all devices of an architecture."""
    library = _library(variant, architecture)
    status, handle = driver().cuLibraryGetKernel(library, entry.encode())
    if status:
        raise KernelSourceError(f"{variant} has no kernel {entry!r}")
    return handle


def _library(variant: Variant, architecture: str) -> Any:
    """Return the driver's handle of a loaded program that has a variant's kernels; wait for one that is being loaded."""
    library = _loaded_server(variant, architecture)
    if library is not None:
        return library
    loading = _loading.get((variant, architecture))
    if loading is None:
        return _load(variant, architecture)
    try:
        return loading.result()
    except NotCompiledError:
        if uses_children():
            raise
        return _load(variant, architecture)
    finally:
        _loading.pop((variant, architecture), None)
        del loading  # An error that it holds refers to this frame, and so to the callers' buffers: they would outlive the call.


def _wants_exact() -> bool:
    """Return whether no program with more bits than a variant may serve it (docs/kernels.md)."""
    return os.environ.get("HEADRACE_EXACT_KERNELS", "0") not in {"", "0"}


def _loaded_server(variant: Variant, architecture: str) -> Any:
    """Return the loaded program with the fewest bits that serves a variant; None if there is none.

    The smallest listed program that serves the variant has to serve that program too. With more bits than that one, a program
    could take twice as long.
    """
    smallest = [variant] if _wants_exact() else variant.servers[:1]
    serving = [
        known
        for known, target in list(_libraries)
        if target == architecture and known.serves(variant) and all(listed.serves(known) for listed in smallest)
    ]
    return _libraries[min(serving, key=lambda known: known.bits), architecture] if serving else None


def _load(variant: Variant, architecture: str) -> Any:
    """Load a program: the variant if it is compiled, else one that may serve it, else the variant.

    Raise NotCompiledError if a child process compiles it.
    """
    with _finding:
        variant, cubin = find_cubin((variant, *(() if _wants_exact() else variant.servers)), architecture)
    if (variant, architecture) in _libraries:
        return _libraries[variant, architecture]
    code = cubin()
    try:
        library = checked(driver().cuLibraryLoadData(code, [], [], 0, [], [], 0))
    except GpuError as error:
        raise type(error)(f"{variant}, compiled for {architecture}, is rejected by {_driver_in_words()}: {error}") from error
    return _libraries.setdefault((variant, architecture), library)


class NeededProgram(NamedTuple):
    """A program that kernels of a call are in: its file, and a value of each macro."""

    file: str
    defines: Mapping[str, Value]


def load_programs(programs: Iterable[NeededProgram], gpu: Gpu) -> None:
    """Begin to load programs in parallel threads; one that must be compiled takes seconds. A launch waits for its program.

    The compiler gets them in this order, so the one that takes longest should be the first.

    Raise OptionError if the list beside the file does not have a program.
    """
    variants = dict.fromkeys(Variant.of(*program) for program in programs)
    missing = [
        variant
        for variant in variants
        if not _is_loading(variant, gpu.architecture) and _loaded_server(variant, gpu.architecture) is None
    ]
    if not missing:
        return

    from concurrent.futures import ThreadPoolExecutor  # here, because later reads do not need it

    def load(variant: Variant) -> Any:
        with gpu.current():
            return _load(variant, gpu.architecture)

    pool = ThreadPoolExecutor(len(missing))
    for variant in missing:
        _loading[variant, gpu.architecture] = pool.submit(copy_context().run, load, variant)
    pool.shutdown(wait=False)


def _is_loading(variant: Variant, architecture: str) -> bool:
    """Return whether a thread loads a program, or has loaded it; False if it failed."""
    loading = _loading.get((variant, architecture))
    return loading is not None and not (loading.done() and loading.exception() is not None)
