"""Memory of results: bytes on a device, owned by whoever holds them.

A host buffer speaks Python's buffer protocol (``memoryview(buffer)``). One on a GPU (`gpu.memory.pool`) has the same
attributes and speaks ``__cuda_array_interface__`` in its place.
"""

from __future__ import annotations

from headrace._native import Buffer, copy_of, empty_buffer

__all__ = ["Buffer", "copy_of", "empty_buffer"]
