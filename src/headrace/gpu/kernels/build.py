"""Compiles all programs of the package ahead of time, so that no call waits for the compiler."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from headrace.core.errors import OptionError
from headrace.gpu.device.device import ARCHITECTURES, compiler
from headrace.gpu.kernels.cache import KernelCache, user_cache
from headrace.gpu.kernels.compile import cache_key, compile_source
from headrace.gpu.kernels.source import Variant, all_variants, joined_source


@dataclass(frozen=True, slots=True)
class Built:
    """A program that was compiled for an architecture."""

    variant: Variant
    architecture: str  # the program, and its target
    nbytes: int  # size of the cubin in bytes
    seconds: float  # compile time; 0 if the cubin was in the cache
    log: str  # messages of the compiler


def build_kernels(
    architectures: Iterable[str] = ARCHITECTURES,
    *,
    folder: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    variants: Iterable[Variant] | None = None,
) -> Iterator[Built]:
    """Compile the programs of the package. Needs no GPU and no driver.

    `architectures`: targets, such as ``["sm_90"]`` or ``["90"]``.
    `folder`: folder of the cubins; None for the user's cache, which calls read.
    `threads`: number of concurrent compilations; None for one a core.
    `variants`: programs to compile; None for all.
    Raise OptionError if the package does not support an architecture.
    Raise MissingDependencyError if NVRTC is not installed.
    """
    compiler()  # raises if it is missing
    names = list(dict.fromkeys(_architecture(name) for name in architectures))
    cache = user_cache() if folder is None else KernelCache(Path(folder), max_bytes=None)
    work = [(variant, name) for variant in (all_variants() if variants is None else variants) for name in names]
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        yield from pool.map(lambda item: _build(item[0], item[1], cache), work)


def _build(variant: Variant, architecture: str, cache: KernelCache) -> Built:
    source = joined_source(variant)
    key = cache_key(source, architecture)
    code = cache.get(key)
    if code is not None:
        return Built(variant, architecture, len(code), 0.0, "")
    began = time.perf_counter()
    compiled = compile_source(source, variant.file, architecture)
    if not cache.put(key, compiled.code):
        raise OptionError(f"{str(cache.folder)!r} cannot be written; name another folder")
    return Built(variant, architecture, len(compiled.code), time.perf_counter() - began, compiled.log)


def _architecture(name: str) -> str:
    full = name if name.startswith("sm_") else f"sm_{name}"
    if full not in ARCHITECTURES:
        raise OptionError.unknown("architecture", name, ARCHITECTURES)
    return full
