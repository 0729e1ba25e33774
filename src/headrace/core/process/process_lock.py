"""Makes process-wide locks that are released in a forked child, and renews objects there whose locks threads may have held."""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


def process_lock() -> threading.Lock:
    """Return a lock for a module's globals. In a forked child it is free, even if a thread of the parent held it."""
    lock = threading.Lock()
    os.register_at_fork(after_in_child=getattr(lock, "_at_fork_reinit"))  # noqa: B009  # concurrent.futures does so, too
    return lock


class Renewable(Protocol):
    """An object with locks, which a thread may hold while another one forks."""

    def renew_after_fork(self) -> None:
        """Make the locks anew, and drop what a thread may have been changing. The process has no other thread."""


_renewed: WeakSet[Renewable] = WeakSet()


def renew_in_children(item: Renewable) -> None:
    """Renew an object in each process that is forked while it is in use."""
    _renewed.add(item)


def _renew_all() -> None:
    for item in _renewed:
        item.renew_after_fork()


os.register_at_fork(after_in_child=_renew_all)
