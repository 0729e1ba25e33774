"""Rewrites source so that each planted error is a choice at run time (mutant schemata; Untch, Offutt and Harrold 1993).

An expression becomes ``(headrace_mutant == 17 ? (mutated) : (original))``, so that one build holds all errors. Code of the
host reads the number from HEADRACE_MUTANT when it is loaded. In the fiber harness the runtime reads it, because kernels are
compiled with hooks that do not work outside a launch.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutation.mutants import PACKAGE, Mutant, MutantError

_FOLDERS = ("src", "tests", "checks", "bench")
_FILES = ("CMakeLists.txt", "pytest.ini", "pyproject.toml")
_LEFT_OUT = {"__pycache__", "build", "results", "mutation"}

_NUMBER = """#ifndef HEADRACE_MUTANT_NUMBER
#define HEADRACE_MUTANT_NUMBER
#ifdef __global__
extern "C" int headrace_mutant;
#else
extern "C" char* getenv(const char*) noexcept;
extern "C" int atoi(const char*) noexcept;
inline int headrace_mutant = getenv("HEADRACE_MUTANT") ? atoi(getenv("HEADRACE_MUTANT")) : 0;
#endif
#endif
#line 1
"""
_HARNESS = f"{PACKAGE}/testing/fibers/runtime.hpp"
_HARNESS_NUMBER = """
#include <cstdlib>
extern "C" int headrace_mutant;
int headrace_mutant = std::getenv("HEADRACE_MUTANT") ? std::atoi(std::getenv("HEADRACE_MUTANT")) : 0;
"""


def planted(text: str, mutants: Sequence[Mutant]) -> str:
    """The text of a file with all of its mutants as choices.

    Raises
    ------
    MutantError
        A row does not fit, or two choices overlap without being the same.
    """
    for one in mutants:
        one.check(text)
    is_python = mutants[0].file.endswith(".py")
    chosen = _chosen_python if is_python else _chosen_native
    end = len(text)
    by_place: dict[tuple[int, int], list[Mutant]] = {}
    for one in mutants:
        by_place.setdefault(one.span(text), []).append(one)
    for (begin, behind), here in sorted(by_place.items(), reverse=True):
        if behind > end:
            raise MutantError(f"{here[0].name}: its choice overlaps another one")
        text = text[:begin] + chosen(text[begin:behind], here) + text[behind:]
        end = begin
    return text if is_python else _NUMBER + text


def _chosen_native(original: str, mutants: Iterable[Mutant]) -> str:
    is_statement = original.endswith(";")
    made = original if is_statement else f"({original})"
    for one in mutants:
        chosen = f"headrace_mutant == {one.number}"
        if is_statement:
            made = f"{{ if ({chosen}) {{ {one.mutated} }} else {{ {made} }} }}"
        else:
            made = f"({chosen} ? ({one.mutated}) : {made})"
    return made


def _chosen_python(original: str, mutants: Iterable[Mutant]) -> str:
    made = f"({original})"
    for one in mutants:
        chosen = f'__import__("os").environ.get("HEADRACE_MUTANT") == "{one.number}"'
        made = f"(({one.mutated}) if {chosen} else {made})"
    return made


def plant(mutants: Iterable[Mutant], root: Path, tree: Path) -> None:
    """Copy the source tree with all mutants in it. A file that is there already with the same text keeps its time."""
    by_file: dict[str, list[Mutant]] = {}
    for one in mutants:
        by_file.setdefault(f"{PACKAGE}/{one.file}", []).append(one)
    wanted = set(_FILES) | set(by_file)
    for folder in _FOLDERS:
        wanted |= {path.relative_to(root).as_posix() for path in _files(root / folder)}
    for name in sorted(wanted):
        data = (root / name).read_bytes()
        if name in by_file:
            data = planted(data.decode(), by_file[name]).encode()
        elif name == _HARNESS:
            data += _HARNESS_NUMBER.encode()
        _write(tree / name, data)
    for path in list(_files(tree)):
        name = path.relative_to(tree).as_posix()
        if name not in wanted and path.suffix != ".so":
            path.unlink()


def _files(folder: Path) -> Iterable[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in _LEFT_OUT and not path.is_symlink():
            yield from _files(path)
        elif path.is_file() and path.suffix not in {".so", ".pyc"}:
            yield path


def _write(path: Path, data: bytes) -> None:
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def forget(tree: Path) -> None:
    """Delete a planted tree."""
    shutil.rmtree(tree, ignore_errors=True)
