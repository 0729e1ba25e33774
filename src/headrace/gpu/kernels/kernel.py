"""Kernels: from a file of the package to a launch.

A program is compiled (compile.py), kept on disk (cache.py), and loaded when one of its kernels is first asked for.
A kernel knows where its parameters lie, so that a launch is one native call, which packs the arguments and calls the driver
(gpu/bindings.cpp).

Cost beside an H200: a launch 3.6 to 4.7 us, the first call of a process 10 ms where the kernel is kept, 80 to 105 where it is
compiled (bench/results/h200/2026-11-21-limits.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from headrace import _native
from headrace.core.process_lock import process_lock
from headrace.gpu.device.device import NAMED_STREAMS, Gpu, GpuError, checked, driver
from headrace.gpu.device.driver_calls import card_calls
from headrace.gpu.kernels.arguments import layout_of
from headrace.gpu.kernels.compile import cubin_of
from headrace.gpu.kernels.source import KernelSourceError, Value, Variant

Extent = int | tuple[int, int, int]


class LaunchMode(IntEnum):
    """How a launch relates to the others on the card."""

    ORDERED = 0
    """It begins when the preceding launch of its stream has ended."""
    EARLY = 1
    """It may begin before that; the kernel itself waits (gpu/block/dependent_launch.cuh)."""
    COOPERATIVE = 2
    """All blocks become resident together or none does, so they may wait for each other (grid_barrier.cuh).

    Without it, two such launches in different streams can each hold the multiprocessors that the other's missing blocks need.
    """


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
    mode
        How it is launched.
    """

    __slots__ = ("_call", "_handle", "_shared", "gpu", "name")

    def __init__(self, handle: Any, name: str, signature: str, gpu: Gpu, *, mode: LaunchMode = LaunchMode.ORDERED) -> None:
        self.name = name
        self.gpu = gpu
        self._handle = handle
        self._call = _native.KernelCall(card_calls(), int(handle), layout_of(handle, name, signature), int(mode))
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
        call = grid, block, shared, stream, args
        if stream <= NAMED_STREAMS and not is_current:
            with self.gpu.current():
                status = self._call.launch(*call)
        else:
            status = self._call.launch(*call)
        if status:
            self._retry(call, status)

    def prepare(self, grid: Extent, block: Extent, args: Sequence[Any], shared: int) -> Prepared:
        """A launch to be made by `launch_all`; parameters as of `launch`."""
        if shared > self._shared:
            self._allow_shared(shared)
        return self._call, grid, block, shared, args, self

    def _retry(self, call: tuple[Extent, Extent, int, int, Sequence[Any]], status: int) -> None:
        """Once more, with the card's context as this thread's: a new thread has none, and other libraries change it."""
        names = driver().CUresult
        if status in {names.CUDA_ERROR_INVALID_CONTEXT, names.CUDA_ERROR_INVALID_HANDLE, names.CUDA_ERROR_CONTEXT_IS_DESTROYED}:
            with self.gpu.current():
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


_allowing = process_lock()
_LEAST_DRIVER = 13000
_EARLY_FROM = 9, 0
"""Compute capability of cards that begin a launch before the one in front of it has ended."""


_libraries: dict[tuple[Variant, str], Any] = {}
_kernels: dict[tuple[Any, ...], Kernel] = {}


def kernel(
    file: str, entry: str, signature: str, defines: Mapping[str, Value], gpu: Gpu, *, mode: LaunchMode = LaunchMode.ORDERED
) -> Kernel:
    """A kernel of the package, loaded; the second call with the same arguments finds it.

    Parameters
    ----------
    file
        Its file, such as ``"primitives/copy.cu"``.
    entry
        Its name there.
    signature
        Its parameters, as `Kernel` has them.
    defines
        Macros and their values; ``programs.py`` beside the file lists them.
    gpu
        The card it will run on.
    mode
        How it is launched. Cards that cannot begin a launch early order it.

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
    name = (file, entry, signature, *defines.items(), gpu.index, mode)
    found = _kernels.get(name)
    if found is None:
        variant = Variant.of(file, defines)
        # Two threads may both come here; both get a kernel that works, and one of them is kept.
        if mode is LaunchMode.EARLY and gpu.capability < _EARLY_FROM:
            mode = LaunchMode.ORDERED
        with gpu.current():
            found = _kernels[name] = Kernel(_loaded(variant, entry, gpu.architecture), entry, signature, gpu, mode=mode)
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
