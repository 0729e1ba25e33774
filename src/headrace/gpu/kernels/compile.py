"""Compiles programs to cubins with NVRTC and caches them. Needs neither a GPU nor the native part of the package.

A program (`headrace.gpu.kernels.source`) is compiled for one architecture, never to PTX, which a driver older than the
compiler rejects. Floating point equals the CPU's: ``--fmad=false``, fused operations only by name.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache

from headrace.core.errors import MissingDependencyError
from headrace.gpu.device.device import cuda_core
from headrace.gpu.kernels.cache import PREBUILT, KernelCache, key_of, user_folder
from headrace.gpu.kernels.source import KernelSourceError, Variant, joined_source

_OPTIONS = {"std": "c++20", "fma": False}


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of a compilation: the cubin and the compiler's warnings."""

    code: bytes
    log: str


def compile_source(source: str, name: str, architecture: str) -> Compiled:
    """Compile a program. Needs no driver and no GPU.

    Parameters
    ----------
    source
        The complete source text.
    name
        File name in messages without a ``#line``.
    architecture
        Target, such as ``"sm_90"``.

    Raises
    ------
    KernelSourceError
        The program does not compile; the error holds the compiler's messages.
    MissingDependencyError
        NVRTC is not installed.
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
    """Return the release of the compiler's package, or ``"system"``.

    Loading NVRTC to ask for its version would cost what a cache hit saves.
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
    """Return the user's cache for this compiler."""
    return KernelCache(user_folder() / f"nvrtc-{compiler_release()}")


def cache_key(source: str, architecture: str) -> str:
    """Return the cache key of a program."""
    return key_of(source, f"{architecture} {sorted(_OPTIONS.items())}")


def cubin_of(variant: Variant, architecture: str) -> bytes:
    """Return a program's cubin: from the package, from the user's cache, or compiled now.

    Raises
    ------
    MissingDependencyError
        The program must be compiled and NVRTC is not installed.
    """
    source = joined_source(variant)
    key = cache_key(source, architecture)
    shipped = KernelCache(PREBUILT).get(key)
    if shipped is not None:
        return shipped
    return user_cache().get_or_make(key, lambda: compile_source(source, variant.file, architecture).code)
