"""Makes process-wide locks that are released in a forked child."""

from __future__ import annotations

import os
import threading


def process_lock() -> threading.Lock:
    """Return a lock for a module's globals. In a forked child it is free, even if a thread of the parent held it."""
    lock = threading.Lock()
    os.register_at_fork(after_in_child=getattr(lock, "_at_fork_reinit"))  # noqa: B009  # concurrent.futures does so, too
    return lock
