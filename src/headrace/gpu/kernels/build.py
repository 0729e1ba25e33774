"""All programs of the package, compiled beforehand, so that nothing waits for a compiler later."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from headrace.core.errors import OptionError
from headrace.gpu.device.device import ARCHITECTURES, cuda_core
from headrace.gpu.kernels.cache import KernelCache
from headrace.gpu.kernels.compile import cache_key, compile_source, user_cache
from headrace.gpu.kernels.source import Variant, all_variants, joined_source


@dataclass(frozen=True, slots=True)
class Built:
    """A program that was compiled for an architecture.

    Parameters
    ----------
    variant, architecture
        Which.
    nbytes
        Size of its cubin.
    seconds
        Time it took; 0 if it was there.
    log
        What the compiler had to say.
    """

    variant: Variant
    architecture: str
    nbytes: int
    seconds: float
    log: str


def build_kernels(
    architectures: Iterable[str] = ARCHITECTURES,
    *,
    folder: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    variants: Iterable[Variant] | None = None,
) -> Iterator[Built]:
    """Compile the programs of the package; no GPU and no driver are needed.

    Parameters
    ----------
    architectures
        What for, such as ``["sm_90"]``; ``"90"`` says the same.
    folder
        Where to keep them; None for the user's cache, where kernels are looked for.
    threads
        So many at once; None for all cores.
    variants
        Which; None for all.

    Raises
    ------
    OptionError
        An architecture is none that the package supports.
    MissingDependencyError
        There is no compiler.
    """
    cuda_core()  # the error of a missing package comes from here
    names = list(dict.fromkeys(_architecture(name) for name in architectures))
    cache = user_cache() if folder is None else KernelCache(Path(folder), most_bytes=None)
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
