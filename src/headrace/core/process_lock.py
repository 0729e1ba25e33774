"""Makes locks of a whole process that a forked child finds open."""

from __future__ import annotations

import os
import threading


def process_lock() -> threading.Lock:
    """Return a lock for a module's globals. A thread that holds it while another one forks does not exist in the child."""
    lock = threading.Lock()
    os.register_at_fork(after_in_child=getattr(lock, "_at_fork_reinit"))  # noqa: B009  # concurrent.futures does so, too
    return lock
