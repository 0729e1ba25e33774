"""Delays a fork of the process while another thread imports for this package.

An import holds its module's lock. A child that is forked meanwhile inherits the lock without the thread that would
release it. Its own import of the module would wait forever.
"""

from __future__ import annotations

import _imp  # the lock that a thread needs to begin an import has no public name
import os
import sys
import threading
import time
from types import FrameType

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_IMPORT_FILE = "<frozen importlib._bootstrap>"
_POLL_SECONDS = 0.0005
_MAX_DELAY_SECONDS = 10.0
"""Longest delay of a fork, should an import itself wait for the thread that forks."""


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
    this_thread, end = threading.get_ident(), time.monotonic() + _MAX_DELAY_SECONDS
    while True:
        _imp.acquire_lock()  # no thread begins an import before the fork
        frames = sys._current_frames()  # noqa: SLF001  # documented, in spite of its name
        if not any(_is_importing(frame) for thread, frame in frames.items() if thread != this_thread):
            return
        if time.monotonic() > end:
            return
        _imp.release_lock()
        time.sleep(_POLL_SECONDS)


def delay_forks_during_imports() -> None:
    """Make each later fork wait until no other thread imports a module on behalf of this package."""
    os.register_at_fork(before=_begin_fork, after_in_parent=_imp.release_lock, after_in_child=_imp.release_lock)
