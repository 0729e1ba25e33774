"""Copies large buffers through pinned memory, or from files by direct storage."""
