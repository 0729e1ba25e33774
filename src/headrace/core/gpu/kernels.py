"""Kernels: from a file of the package to a launch.

A program (`headrace.core.gpu.kernel_source`) is compiled by NVRTC to a cubin for one architecture, never to PTX, which a driver
older than the compiler refuses; kept on disk (kernel_cache.py); and loaded when one of its kernels is first asked
for. A kernel knows where its parameters lie, so that a launch is one native call, which packs the arguments and calls the driver
(core/gpu/bindings.cpp).

Floating point means the same as on the CPU: ``--fmad=false``, fused operations only by name.

Cost beside an H200: a launch 3.6 to 4.7 us, the first call of a process 10 ms where the kernel is kept, 80 to 105 where it is
compiled (bench/results/h200/2026-11-21-limits.md).
"""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from headrace import _native
from headrace.core.errors import MissingDependencyError
from headrace.core.gpu.card import ARCHITECTURES, NAMED_STREAMS, Gpu, GpuError, checked, cuda_core, driver
from headrace.core.gpu.driver_calls import card_calls
from headrace.core.gpu.kernel_arguments import layout_of
from headrace.core.gpu.kernel_cache import PREBUILT, KernelCache, key_of, user_folder
from headrace.core.gpu.kernel_source import KernelSourceError, Value, Variant, joined_source

__all__ = ["ARCHITECTURES", "Compiled", "Kernel", "Variant", "compile_source", "cubin_of", "kernel"]

_OPTIONS = {"std": "c++20", "fma": False}


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the compiler made of a program: its cubin, and what it had to say (warnings)."""

    code: bytes
    log: str


def compile_source(source: str, name: str, architecture: str) -> Compiled:
    """Compile a program; no driver and no GPU are needed.

    Parameters
    ----------
    source
        The whole text.
    name
        What messages call it where no ``#line`` says better.
    architecture
        Such as ``"sm_90"``.

    Raises
    ------
    KernelSourceError
        It does not compile; the compiler's messages are in the text.
    MissingDependencyError
        There is no NVRTC.
    """
    core = cuda_core()
    log = io.StringIO()
    options = core.ProgramOptions(name=name, arch=architecture, **_OPTIONS)
    try:
        program = core.Program(source, "c++", options)
        code = program.compile("cubin", logs=log).code
    except Exception as error:
        if type(error).__name__ == "DynamicLibNotFoundError":  # of cuda.pathfinder: there is no libnvrtc
            raise MissingDependencyError.of("NVRTC", "cuda13", "compiling a kernel") from error
        if type(error).__name__ != "NVRTCError":
            raise
        raise KernelSourceError(f"{name} does not compile for {architecture}: {str(error).strip(chr(0)).strip()}") from None
    return Compiled(bytes(code), log.getvalue().strip("\0\n"))


def compiler_release() -> str:
    """Release of the compiler, as its package tells it, or ``"system"``.

    Loading NVRTC to ask it would cost what a cache hit saves.
    """
    from importlib.metadata import PackageNotFoundError, version

    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "system"


@cache
def user_cache() -> KernelCache:
    """The user's cache for this compiler."""
    return KernelCache(user_folder() / f"nvrtc-{compiler_release()}")


def cache_key(source: str, architecture: str) -> str:
    """Under which name a program is kept."""
    return key_of(source, f"{architecture} {sorted(_OPTIONS.items())}")


def cubin_of(variant: Variant, architecture: str) -> bytes:
    """A program of the package, compiled: as it came with the package, from the user's cache, or now.

    Raises
    ------
    MissingDependencyError
        It has to be compiled, and there is no NVRTC.
    """
    source = joined_source(variant)
    key = cache_key(source, architecture)
    shipped = KernelCache(PREBUILT).get(key)
    if shipped is not None:
        return shipped
    return user_cache().get_or_make(key, lambda: compile_source(source, variant.file, architecture).code)


Extent = int | tuple[int, int, int]


class Kernel:
    """A kernel on a card.

    Parameters
    ----------
    handle
        The driver's kernel.
    name
        Its entry point.
    signature
        A letter of `struct` for each parameter: ``P`` a pointer, ``q`` and ``Q`` 64 bits, ``i`` and ``I`` 32, ``d`` and ``f``
        floating point, ``16s`` sixteen bytes of a structure.
    gpu
        The card.
    begins_early
        Whether it may begin before the launch in front of it has ended, for which it waits itself (core/tile/launch.cuh).
    """

    __slots__ = ("_call", "_handle", "_shared", "gpu", "name")

    def __init__(self, handle: Any, name: str, signature: str, gpu: Gpu, *, begins_early: bool = False) -> None:
        self.name = name
        self.gpu = gpu
        self._handle = handle
        self._call = _native.KernelCall(card_calls(), int(handle), layout_of(handle, name, signature), begins_early)
        self._shared = 0  # of dynamic shared memory, so much is known to be allowed

    def launch(
        self,
        grid: Extent,
        block: Extent,
        args: Sequence[Any],
        *,
        shared: int = 0,
        stream: int | None = None,
        is_current: bool = False,
    ) -> None:
        """Start the kernel; it runs later, in the stream's order.

        Parameters
        ----------
        grid, block
            Blocks of the grid and threads of a block: a number, or three.
        args
            For each parameter a number, the bytes of a structure, or what lies on the card and has an ``address``; None is the
            null pointer.
        shared
            Dynamic shared memory of a block, in bytes.
        stream
            The stream's handle; None for the card's own.
        is_current
            Whether the caller has made the card current.

        Raises
        ------
        GpuError
            The driver refuses it: too many threads, too much shared memory, or an earlier kernel failed.
        TypeError, ValueError, OverflowError
            The arguments are not what the kernel takes.
        """
        if shared > self._shared:
            self._allow_shared(shared)
        if stream is None:
            stream = self.gpu.stream
        elif stream <= NAMED_STREAMS and not is_current:
            self.gpu.make_current()
        status = self._call.launch(grid, block, shared, stream, args)
        if status:
            self._retry((grid, block, shared, stream, args), status)

    def prepare(self, grid: Extent, block: Extent, args: Sequence[Any], shared: int) -> Prepared:
        """A launch to be made by `launch_all`; parameters as of `launch`."""
        if shared > self._shared:
            self._allow_shared(shared)
        return self._call, grid, block, shared, args, self

    def _retry(self, call: tuple[Extent, Extent, int, int, Sequence[Any]], status: int) -> None:
        """Once more, with the card's context as this thread's: a new thread has none, and other libraries change it."""
        names = driver().CUresult
        if status in {names.CUDA_ERROR_INVALID_CONTEXT, names.CUDA_ERROR_INVALID_HANDLE, names.CUDA_ERROR_CONTEXT_IS_DESTROYED}:
            self.gpu.make_current()
            status = self._call.launch(*call)
        if status:
            try:
                checked((names(status),))
            except GpuError as error:
                grid, block, shared, *_ = call
                raise GpuError(f"kernel {self.name}, grid {grid}, block {block}, {shared} bytes shared: {error}") from None

    def _allow_shared(self, shared: int) -> None:
        """Raise what the driver allows; never lower it, since other threads, and other objects, may launch the same kernel."""
        functions = driver()
        attribute = functions.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with _allowing:
            allowed = checked(functions.cuKernelGetAttribute(attribute, self._handle, self.gpu.index))
            if shared > allowed:
                checked(functions.cuKernelSetAttribute(attribute, shared, self._handle, self.gpu.index))
            self._shared = max(shared, allowed)

    def __repr__(self) -> str:
        return f"Kernel({self.name} on {self.gpu!r})"


Prepared = tuple[_native.KernelCall, Extent, Extent, int, Sequence[Any], Kernel]


def launch_all(launches: list[Prepared], stream: int) -> None:
    """Start kernels one behind the other, on a card that is current; errors as of `Kernel.launch`."""
    told, status = _native.launch_all(launches, stream)
    if status:
        _, grid, block, shared, args, failed = launches[told]
        failed._retry((grid, block, shared, stream, args), status)  # noqa: SLF001  # this is the kernels' own
        launch_all(launches[told + 1 :], stream)


_allowing = threading.Lock()
_LEAST_DRIVER = 13000
_EARLY_FROM = 9, 0
"""Compute capability of cards that begin a launch before the one in front of it has ended."""


_libraries: dict[tuple[Variant, str], Any] = {}
_kernels: dict[tuple[Any, ...], Kernel] = {}


def kernel(
    file: str, entry: str, signature: str, defines: Mapping[str, Value], gpu: Gpu, *, begins_early: bool = False
) -> Kernel:
    """A kernel of the package, loaded; the second call with the same arguments finds it.

    Parameters
    ----------
    file
        Its file, such as ``"core/primitives/copy.cu"``.
    entry
        Its name there.
    signature
        Its parameters, as `Kernel` has them.
    defines
        Macros and their values; ``variants.toml`` beside the file lists them.
    gpu
        The card it will run on.
    begins_early
        As `Kernel` has it, of cards that can.

    Raises
    ------
    OptionError
        No such variant is listed.
    KernelSourceError
        The signature is not the kernel's, or the file has no such kernel.
    MissingDependencyError
        It has to be compiled, and there is no NVRTC.
    GpuError
        The driver does not take what was compiled, being older than the compiler.
    """
    name = (file, entry, signature, *defines.items(), gpu.index)
    found = _kernels.get(name)
    if found is None:
        variant = Variant.of(file, defines)
        gpu.make_current()
        # Two threads may both come here; both get a kernel that works, and one of them is kept.
        early = begins_early and gpu.capability >= _EARLY_FROM
        found = _kernels[name] = Kernel(_loaded(variant, entry, gpu.architecture), entry, signature, gpu, begins_early=early)
    return found


def _driver_in_words() -> str:
    """The driver by its version, and whether that may be the reason: a cubin wants one of its compiler's generation, or newer."""
    version = checked(driver().cuDriverGetVersion())
    named = f"the driver, which is for CUDA {version // 1000}.{version % 1000 // 10}"
    return named if version >= _LEAST_DRIVER else f"{named} (13.0 or newer is needed)"


def _loaded(variant: Variant, entry: str, architecture: str) -> Any:
    """The driver's kernel. A library is loaded once for all cards of an architecture."""
    functions = driver()
    library = _libraries.get((variant, architecture))
    if library is None:
        code = cubin_of(variant, architecture)
        try:
            library = checked(functions.cuLibraryLoadData(code, [], [], 0, [], [], 0))
        except GpuError as error:
            raise GpuError(f"{variant}, compiled for {architecture}, is not taken by {_driver_in_words()}: {error}") from error
        library = _libraries.setdefault((variant, architecture), library)
    status, handle = functions.cuLibraryGetKernel(library, entry.encode())
    if status:
        raise KernelSourceError(f"{variant} has no kernel {entry!r}")
    return handle
