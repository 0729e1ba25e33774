"""Selects some of the listed programs, for tests in which compiling each would take minutes."""

from __future__ import annotations

from functools import cache
from itertools import groupby

from headrace.gpu.kernels.source import Variant, all_variants, joined_source


def _file_of(variant: Variant) -> str:
    return variant.file


def with_each_value() -> list[Variant]:
    """Return few programs that have each value of each macro of a file: a program that has the most new ones comes next."""
    chosen = []
    for _, of_file in groupby(sorted(all_variants(), key=_file_of), _file_of):  # tables of one file may be apart
        listed = list(of_file)
        left = {define for variant in listed for define in variant.defines}
        chosen.append(listed[0])
        left.difference_update(listed[0].defines)
        while left:
            chosen.append(max(listed, key=lambda variant: len(left.intersection(variant.defines))))
            left.difference_update(chosen[-1].defines)
    return chosen


def first_of_each_file() -> list[Variant]:
    """One of each file."""
    return list({variant.file: variant for variant in reversed(list(all_variants()))}.values())


def log_without_optimisations(variant: Variant, architecture: str) -> str:
    """Compile for the sake of the compiler's messages, which are returned. Needs NVRTC."""
    from headrace.gpu.kernels.compile import compile_source

    compiled = compile_source(joined_source(variant), variant.file, architecture, ("--Ofast-compile=max",))
    assert len(compiled.code) > 0
    return compiled.log


def asks_for_architecture(variant: Variant) -> bool:
    """Return True if the text of a program depends on the architecture."""
    return variant.file in _files_that_ask()


@cache
def _files_that_ask() -> set[str]:
    return {variant.file for variant in first_of_each_file() if "__CUDA_ARCH__" in joined_source(variant)}


def that_differ_on_sm_80() -> list[Variant]:
    """Return programs whose text depends on the architecture, with each value of each macro, and one of each other file."""
    chosen = [variant for variant in with_each_value() if asks_for_architecture(variant)]
    files = {variant.file for variant in chosen}
    return chosen + [variant for variant in first_of_each_file() if variant.file not in files]
