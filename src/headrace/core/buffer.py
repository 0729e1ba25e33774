"""Memory of results: bytes on a device, owned by whoever holds them.

A host buffer speaks Python's buffer protocol (``memoryview(buffer)``). Buffers on a GPU will have the same attributes and speak
``__cuda_array_interface__`` in its place.
"""

from __future__ import annotations

from headrace._native import Buffer, copy_of

__all__ = ["Buffer", "copy_of"]
