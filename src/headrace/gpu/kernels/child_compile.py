"""Compiles programs in child processes, so that a call need not wait for the compiler if it can do without the kernels.

A child stores its program in the user's cache, where later calls of any process find it. It may outlive the process that
started it. A thread could not compile beside a call: NVRTC crashes if the interpreter ends meanwhile.

No child is started if `HEADRACE_FIRST_READ` is ``compile``, if the interpreter is part of another program, or if the cache
cannot be written. If a child fails, the next call compiles its program in this process.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.gpu.device.device import compiler
from headrace.gpu.kernels.cache import compiler_release, user_cache
from headrace.gpu.kernels.source import Variant, joined_source

if TYPE_CHECKING:
    from headrace.core.process.detached_process import DetachedProcess

_LOCKS = ".locks"  # A file in the cache's folder. A child locks the byte whose offset is the program's key.
_OFFSET_DIGITS = 15  # hexadecimal digits of a key that fit the offset of a file
_NICENESS = 19  # of a child, so that the processor is the caller's first
_ENDED = None  # in place of a child that has ended, or that could not be started


class NotCompiledError(Exception):
    """A child process compiles a program that a launch needs."""


_uses_children: ContextVar[bool] = ContextVar("_uses_children", default=False)
children: dict[tuple[Variant, str], DetachedProcess | None] = {}  # a process for each program and architecture, or `_ENDED`


@contextmanager
def compiling_in_children(*, wanted: bool) -> Iterator[None]:
    """Let launches of this thread raise NotCompiledError, if `wanted`, instead of waiting for the compiler."""
    for child in list(children.values()):
        if child is not _ENDED:
            child.poll()  # Otherwise one that has ended would remain in the system's table of processes.
    token = _uses_children.set(wanted and os.environ.get("HEADRACE_FIRST_READ") != "compile")
    try:
        yield
    finally:
        _uses_children.reset(token)


def uses_children() -> bool:
    """Return whether child processes compile the programs that launches of this thread miss."""
    return _uses_children.get()


def is_compiling(variant: Variant, architecture: str) -> bool:
    """Return whether a child compiles a program that is not stored; the first call starts the child.

    The call that sees that a child has ended returns True: the program was not stored when the caller looked, and may be now.
    """
    key = variant, architecture
    if key not in children:
        children[key] = _start(variant, architecture)
        return children[key] is not _ENDED
    child = children[key]
    if child is _ENDED:
        return False
    if child.poll() is not None:
        children[key] = _ENDED
    return True


def _start(variant: Variant, architecture: str) -> DetachedProcess | None:
    """Start a child that compiles a program; return `_ENDED` if there can be none.

    Raise MissingDependencyError if NVRTC is not installed.
    """
    if compiler_release() == "system":
        compiler()  # raises if there is none
    if not Path(sys.executable or "").name.startswith("python"):
        return _ENDED
    from headrace.core.process.detached_process import DetachedProcess  # seldom needed

    given = json.dumps([variant.file, variant.defines, architecture])
    with suppress(OSError):
        folder = user_cache().folder
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            path = {"PYTHONPATH": os.pathsep.join([one for one in sys.path if isinstance(one, str)])}  # imports ignore others
            return DetachedProcess([sys.executable, "-P", "-m", __spec__.name, given], os.environ | path)
    return _ENDED


def main(arguments: Sequence[str]) -> None:
    """Compile the program that is named by JSON (file, macros, architecture), unless another process has stored it."""
    from headrace.gpu.kernels.compile import cache_key, cubin_of  # which itself starts children

    file, defines, architecture = json.loads(arguments[0])
    variant = Variant(file, tuple((name, value) for name, value in defines))
    os.nice(_NICENESS)
    key = cache_key(joined_source(variant), architecture)
    with ExitStack() as until_stored:
        with suppress(OSError):  # a file system without locks, or a cache whose file belongs to another user
            locks = until_stored.enter_context((user_cache().folder / _LOCKS).open("ab"))
            fcntl.lockf(locks, fcntl.LOCK_EX, 1, int(key[:_OFFSET_DIGITS], 16))
        cubin_of(variant, architecture)


if __name__ == "__main__":
    main(sys.argv[1:])
