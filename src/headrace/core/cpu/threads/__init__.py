"""Threads of this process: the pool, gates in order, waits, and interrupts."""
