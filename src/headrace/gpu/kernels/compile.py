"""Compiles programs to cubins with NVRTC and caches them. Needs neither a GPU nor the native part of the package.

A program (`headrace.gpu.kernels.source`) is compiled for one architecture, never to PTX, which a driver older than the
compiler rejects. NVRTC is called through ``cuda.bindings``, since ``cuda.core`` takes 200 ms to import. Floating point equals
the CPU's: ``--fmad=false``, fused operations only by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from headrace.gpu.device.device import compiler
from headrace.gpu.kernels.cache import key_of, shipped, user_cache
from headrace.gpu.kernels.child_compile import NotCompiledError, is_compiling, uses_children
from headrace.gpu.kernels.source import KernelSourceError, Variant, joined_source

_OPTIONS = ("-std=c++20", "-fmad=false")


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of a compilation: the cubin and the compiler's warnings."""

    code: bytes
    log: str


def compile_source(source: str, name: str, architecture: str, extra: Sequence[str] = ()) -> Compiled:
    """Compile a program. Needs no driver and no GPU.

    Raise KernelSourceError if the program does not compile; the error holds the compiler's messages. Raise
    MissingDependencyError if NVRTC is not installed.

    `source`: the complete source text.
    `name`: file name in messages without a ``#line``.
    `architecture`: target, such as ``"sm_90"``.
    `extra`: further options of NVRTC.
    """
    functions = compiler()
    options = [option.encode() for option in (*_OPTIONS, f"-arch={architecture}", *extra)]
    program = _checked(functions.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        failed = functions.nvrtcCompileProgram(program, len(options), options)[0]
        log = _text(program, functions.nvrtcGetProgramLogSize, functions.nvrtcGetProgramLog).decode().strip("\0\n ")
        if failed:
            raise KernelSourceError(f"{name} does not compile for {architecture}: {log or failed.name}")
        return Compiled(_text(program, functions.nvrtcGetCUBINSize, functions.nvrtcGetCUBIN), log)
    finally:
        functions.nvrtcDestroyProgram(program)


def _text(program: Any, size: Any, copy: Any) -> bytes:
    """Return an output of a program, by the functions that give its size and copy it."""
    result = bytearray(_checked(size(program)))
    _checked(copy(program, result))
    return bytes(result)


def _checked(result: tuple[Any, ...]) -> Any:
    """Return the result of a call of the compiler. Raise KernelSourceError if the call failed."""
    if result[0]:
        raise KernelSourceError(f"the compiler refuses a call: {result[0].name}")
    return result[1] if len(result) > 1 else None


def cache_key(source: str, architecture: str) -> str:
    """Return the cache key of a program."""
    return key_of(source, f"{architecture} {_OPTIONS}")


def find_cubin(variants: Sequence[Variant], architecture: str) -> tuple[Variant, Callable[[], bytes]]:
    """Return the first program that is stored, else the first of all, and a function that returns its cubin.

    It is stored in ``headrace-kernels-cuda13`` or in the user's cache. If none is, the function compiles the program.

    Raise MissingDependencyError if the program must be compiled and NVRTC is not installed. Raise NotCompiledError if a child
    process compiles the program.
    """
    prebuilt = shipped()
    for variant in variants:
        key = cache_key(joined_source(variant), architecture)
        code = None if prebuilt is None else prebuilt.get(key)
        if code is None:
            code = user_cache().get(key)
        if code is not None:
            return variant, partial(bytes, code)
    if uses_children() and is_compiling(variants[0], architecture):
        raise NotCompiledError
    compiler()
    return variants[0], partial(_compiled, variants[0], joined_source(variants[0]), architecture)


def _compiled(variant: Variant, source: str, architecture: str) -> bytes:
    """Compile a program and store it. Nothing precedes the call of the compiler, so that programs enter it in order."""
    code = compile_source(source, variant.file, architecture).code
    user_cache().put(cache_key(source, architecture), code)
    return code


def cubin_of(variant: Variant, architecture: str) -> bytes:
    """Return a program's cubin, compiled now if it is not stored; errors as for `find_cubin`."""
    return find_cubin([variant], architecture)[1]()
