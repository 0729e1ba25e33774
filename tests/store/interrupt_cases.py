"""Interrupts a call where a trace function raises KeyboardInterrupt."""

from __future__ import annotations

import sys


def is_interrupted(call, trace):
    """Call a function with a trace function, and return whether it was interrupted."""
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
