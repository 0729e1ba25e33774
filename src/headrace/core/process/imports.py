"""Delays a fork of the process, and the end of the interpreter, while another thread imports for this package.

An import holds its module's lock. A child that is forked meanwhile inherits the lock without the thread that would
release it. Its own import of the module would wait forever.

The import of the native part runs Python code, which waits for the GIL. If the interpreter ends meanwhile, it unwinds the
stack of a daemon thread that waits. C++ functions are on this stack, and the process aborts.
"""

from __future__ import annotations

import _imp  # the lock that a thread needs to begin an import has no public name
import atexit
import os
import sys
import time
from _thread import RLock, get_ident  # those of `threading`, whose import takes time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, ModuleType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep
_IMPORT_FILE = "<frozen importlib._bootstrap>"
_POLL_SECONDS = 0.0005
_MAX_DELAY_SECONDS = 10.0  # longest delay of a fork, should an import itself wait for the thread that forks


_importing_native = RLock()  # held during the import of the native part, and by the main thread from its exit handlers on


def import_module(name: str) -> ModuleType:
    """Return a module, as the function of `importlib` does, whose own import takes time."""
    __import__(name)
    return sys.modules[name]


def import_native() -> ModuleType:
    """Return the native part. Its import ends before the interpreter does."""
    with _importing_native:
        return import_module("headrace._native")


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether the thread whose innermost frame is `frame` imports a module for this package, or one of its own."""
    is_in_import = False
    while frame is not None:
        code = frame.f_code
        is_in_import = is_in_import or code.co_filename == _IMPORT_FILE
        if code.co_filename.startswith(_PACKAGE) and (is_in_import or code.co_name == "<module>"):
            return True
        frame = frame.f_back
    return False


def _begin_fork() -> None:
    this_thread, end = get_ident(), time.monotonic() + _MAX_DELAY_SECONDS
    while True:
        _imp.acquire_lock()  # no thread begins an import before the fork
        frames = sys._current_frames()  # noqa: SLF001  # documented, in spite of its name
        if not any(_is_importing(frame) for thread, frame in frames.items() if thread != this_thread):
            return
        if time.monotonic() > end:
            return
        _imp.release_lock()
        time.sleep(_POLL_SECONDS)


def delay_forks_and_exit_during_imports() -> None:
    """Make later forks wait until no other thread imports for this package, and the exit until none imports the native part."""
    os.register_at_fork(before=_begin_fork, after_in_parent=_imp.release_lock, after_in_child=_imp.release_lock)
    os.register_at_fork(after_in_child=getattr(_importing_native, "_at_fork_reinit"))  # noqa: B009  # as in process_lock.py
    atexit.register(_importing_native.acquire)
