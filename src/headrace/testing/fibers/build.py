"""Builds a library that runs the kernels of a ``.cu`` file: preprocess, find the kernels, compile, lay out, link; cached.

Each shared variable gets a red zone of 64 bytes on both sides, so that an access past its end hits no other variable. A linker
script, generated from the names of the variables' sections, sets their addresses.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.core.errors import HeadraceError, OptionError
from headrace.testing.fibers.launch import Checks, Counts, HarnessLaunch, Library, run

_PACKAGE = Path(__file__).parents[2]
_HERE = Path(__file__).parent

_COMMON = ["-std=c++20", "-g1", "-fPIC", "-fvisibility=hidden", "-fdata-sections", "-ffp-contract=off"]
_COMMON += ["-fno-strict-aliasing", "-fno-exceptions", "-w"]
# Accesses through null pointers and past the address space are found by the hooks of accesses, for less time to compile.
_UNDEFINED = ["-fsanitize=undefined", "-fno-sanitize=vptr,object-size,null,pointer-overflow"]
_BLOCKS = ["-fsanitize-coverage=trace-pc"]
_ACCESSES = ["-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "--param", "tsan-instrument-func-entry-exit=0"]

BUILDS = {
    # With -O1 the larger kernels take 1.5 times as long to compile and run a tenth faster, since most of their work is checks.
    # A trap instead of a call for undefined behaviour compiles in three quarters of the time.
    "checked": ["-Og", *_ACCESSES, *_UNDEFINED, "-fsanitize-undefined-trap-on-error", *_BLOCKS],
    "explained": ["-Og", *_ACCESSES, *_UNDEFINED, *_BLOCKS],
    "fast": ["-O2", *_BLOCKS],
    "address": ["-O1", "-fsanitize=address", *_UNDEFINED, *_BLOCKS],
}  # Compiler flags of the kernel's unit. The harness itself is compiled with -O2 and without these flags.

_KERNEL = re.compile(r'extern "C"\s+__attribute__\(\(used, noinline\)\)\s+void\s+(\w+)\s*\(')
_SHARED_SECTION = re.compile(r"^\s*\d+\s+(\.bss\._ZZ\S+)\s", re.MULTILINE)
_RED_ZONE = 64
_ENTRY = """
extern "C" __attribute__((visibility("default"))) const headrace::fibers::Entry fibers_entry_{name} =
    headrace::fibers::entry_of<&{name}>();
"""


_launching: dict[Path, threading.Lock] = {}


class BuildError(HeadraceError, RuntimeError):
    """g++ is missing or rejects the program; the message has its output. Or the machine is not x86-64."""


def unsupported() -> str:
    """Return the reason why this machine cannot run the harness; empty if it can."""
    machine = platform.machine()
    return "" if machine == "x86_64" else f"fibers switch stacks by instructions of x86-64, and this machine is {machine}"


@dataclass(frozen=True)
class Program:
    """A compiled program. `program` makes one."""

    path: Path  # the library
    entries: tuple[str, ...]  # names of its kernels
    build: str

    @property
    def _lock(self) -> threading.Lock:
        """Lock of the library, whose global state is shared by all programs compiled to it."""
        return _launching.setdefault(self.path, threading.Lock())

    @functools.cached_property
    def _library(self) -> Library:
        return Library(self.path)

    def launch(
        self,
        entry: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[object],
        *,
        shared: int = 0,
        order: str = "random",
        seed: int = 0,
        resident_blocks: int = 4,
        checks: Checks | None = None,
    ) -> Counts:
        """Run a kernel until all threads have returned.

        Parameters
        ----------
        entry
            Name of an ``extern "C"`` kernel.
        grid, block
            Extents: a number or up to three, x first.
        args
            A value for each parameter. For a pointer a NumPy array, which is used in place, or None. For a number a Python or
            NumPy one. For a structure its bytes (``bytes``, or a NumPy record).
        shared
            Bytes of dynamic shared memory.
        order
            Which thread is next: ``"forward"`` and ``"reverse"`` go round, ``"random"`` draws.
        seed
            Of ``"random"``. The same seed gives the same interleaving, to the last access.
        resident_blocks
            Blocks that run interleaved, 1 to 32.
        checks
            Additional checks, and their limits.

        Returns
        -------
        Counts
            How often threads met, took turns, lost a compare-and-swap.

        Raises
        ------
        KernelError
            The kernel has a fault; the message has the positions of its threads.
        OptionError
            An argument does not fit its parameter, or a limit of CUDA is passed.

        Examples
        --------
        >>> import numpy
        >>> text = 'extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }'
        >>> values = numpy.arange(4, dtype=numpy.int32)
        >>> program(text=text).launch("twice", 1, 4, [values]).threads
        4
        >>> values.tolist()
        [0, 2, 4, 6]
        """
        if entry not in self.entries:
            raise OptionError.unknown("kernel", entry, self.entries)
        config = HarnessLaunch(grid=grid, block=block, shared=shared, order=order, seed=seed, resident_blocks=resident_blocks)
        with self._lock:
            return run(self._library, entry, args, config, checks or Checks())


def program(
    source: str | Path | None = None,
    defines: Mapping[str, object] | None = None,
    *,
    text: str | None = None,
    build: str | None = None,
) -> Program:
    """Compile a program for the harness, or load it from the cache.

    Parameters
    ----------
    source
        A ``.cu`` file: ``"primitives/scan.cu"`` of the package, or any path.
    defines
        Values of macros, by name.
    text
        The program itself, instead of `source`.
    build
        ``"checked"`` looks at every access, and finds undefined behaviour; ``"explained"`` also says what is undefined;
        ``"fast"`` only runs; ``"address"`` is for a process that has the address sanitizer's library loaded first. By default,
        the value of ``HEADRACE_FIBERS_BUILD`` in the environment, or ``"checked"``.

    Returns
    -------
    Program
        Ready to launch.

    Raises
    ------
    BuildError
        g++ is not there, or does not take the program.
    OptionError
        The file does not exist, or `build` is unknown.
    """
    build = build or os.environ.get("HEADRACE_FIBERS_BUILD", "checked")
    if build not in BUILDS:
        raise OptionError.unknown("build", build, BUILDS)
    if (source is None) == (text is None):
        raise OptionError("pass either source= or text=")
    path = None if source is None else _find(source)
    changed = 0 if path is None else path.stat().st_mtime_ns
    return _program(path, text, _macros(defines), build, changed)


def kernels_of(source: str | Path, defines: Mapping[str, object] | None = None) -> tuple[str, ...]:
    """Return the names of the kernels of a ``.cu`` file, if g++ accepts it with these macros. No code is generated.

    Raises
    ------
    BuildError
        g++ is missing or rejects the program.
    OptionError
        The file does not exist.
    """
    preprocessed, entries = _preprocess(_find(source), None, _macros(defines))
    _run(["g++", *_COMMON, "-fsyntax-only", "-fpreprocessed", "-x", "c++", "-"], stdin=preprocessed)
    return entries


def _macros(defines: Mapping[str, object] | None) -> tuple[str, ...]:
    return tuple(f"-D{name}={value}" for name, value in sorted((defines or {}).items()))


def _preprocess(path: Path | None, text: str | None, defines: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the preprocessed program and the names of its kernels."""
    if unsupported():
        raise BuildError(unsupported())
    given = ["-"] if path is None else [str(path)]
    include = ["-x", "c++", f"-I{_PACKAGE}", "-include", "testing/fibers/cuda.cuh"]
    preprocessed = _run(["g++", *_COMMON, *defines, "-E", *include, *given], stdin=text)
    entries = tuple(dict.fromkeys(_KERNEL.findall(preprocessed)))
    if not entries:
        raise BuildError(f'{path or "the text"} has no kernel: write extern "C" __global__ void name(...)')
    return preprocessed + "".join(_ENTRY.format(name=name) for name in entries), entries


@functools.cache
def _program(path: Path | None, text: str | None, defines: tuple[str, ...], build: str, _changed: int) -> Program:
    preprocessed, entries = _preprocess(path, text, defines)
    key = _key(preprocessed, build, *_COMMON, *BUILDS[build], *_runtime_flags(build))
    library = _cache() / f"{path.stem if path else 'text'}-{key}.so"
    if not library.exists():
        _compile(preprocessed, build, library)
    return Program(library, entries, build)


def _compile(preprocessed: str, build: str, library: Path) -> None:
    runtime = _runtime(build)
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        unit, script, result = Path(folder, "kernel.o"), Path(folder, "layout.ld"), Path(folder, library.name)
        _run(["g++", *_COMMON, *BUILDS[build], "-fpreprocessed", "-x", "c++", "-c", "-", "-o", str(unit)], stdin=preprocessed)
        if build != "address":  # the address sanitizer has its own
            renamed = (f"--redefine-sym={name}=fibers_{name}" for name in ("memcpy", "memmove", "memset"))
            _run(["objcopy", *renamed, str(unit)])
        sections = _SHARED_SECTION.findall(_run(["objdump", "-hw", str(unit)]))
        script.write_text(_layout(sections), encoding="utf-8")
        # Without the libraries of C++, which no program needs, linking takes half of the time.
        libraries = ["-nostdlib", *(["-lasan"] if build == "address" else []), "-lm", "-lc", "-lgcc"]
        objects = [str(unit), str(runtime), *libraries]
        _run(["g++", "-shared", "-Wl,-z,defs", f"-Wl,-T,{script}", "-o", str(result), *objects])
        result.replace(library)


def _layout(sections: list[str]) -> str:
    """Return the linker script: each shared variable with a red zone on both sides."""
    zone = f". = . + {_RED_ZONE};"
    variables = "\n".join(f"*kernel.o({name}); {zone}" for name in sections)
    begin = f"__start_fibers_shared = .; {zone if sections else ''}"
    return f"""SECTIONS {{ fibers_shared (NOLOAD) : ALIGN(4096) {{ {begin}
{variables}
__stop_fibers_shared = .; }} }} INSERT AFTER .bss;
"""


def _runtime_flags(build: str) -> list[str]:
    return ["-O2", *(["-DFIBERS_NO_ACCESS_HOOKS"] if build in ("fast", "address") else [])]


def _runtime(build: str) -> Path:
    flags = _runtime_flags(build)
    result = _cache() / f"runtime-{_key(build, *_COMMON, *flags)}.o"
    if not result.exists():
        with tempfile.TemporaryDirectory(dir=result.parent) as folder:
            unit = Path(folder, result.name)
            header = str(_HERE / "runtime.hpp")
            _run(["g++", *_COMMON, *flags, f"-I{_PACKAGE}", "-x", "c++", "-c", header, "-o", str(unit)])
            unit.replace(result)
    return result


def _find(source: str | Path) -> Path:
    path = _file_of_package(str(source)) or Path(source)
    if not path.is_file():
        raise OptionError(f"there is no file {str(source)!r}, in the package or here")
    return path if path.is_absolute() else path.resolve()


@functools.cache  # each launch asks for it
def _file_of_package(source: str) -> Path | None:
    path = _PACKAGE / source
    return path.resolve() if path.is_file() else None


def _key(*parts: str) -> str:
    """Return the cache name of a file made from `parts` with this compiler and this harness."""
    whole = hashlib.sha256()
    for part in (*parts, _compiler(), *(path.read_text("utf-8") for path in sorted(_HERE.glob("*.[ch]*")))):
        whole.update(part.encode() + b"\0")
    return whole.hexdigest()[:24]


@functools.cache
def _compiler() -> str:
    return _run(["g++", "--version"])


@functools.cache
def _cache() -> Path:
    try:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        folder = Path(base, "headrace", "fibers")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # it cannot be written; or there is no home
        return Path(tempfile.mkdtemp(prefix="headrace-fibers-"))


def _run(command: list[str], stdin: str | None = None) -> str:
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BuildError(f"{command[0]} is needed to run kernels without a GPU; install g++ and binutils") from error
    if done.returncode:
        raise BuildError(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout
