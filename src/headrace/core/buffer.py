"""Exports the buffers that results are stored in: bytes on a device, with shared ownership.

A host buffer supports Python's buffer protocol (``memoryview(buffer)``). A GPU buffer (`gpu.memory.pool`) has the same
attributes and supports ``__cuda_array_interface__`` instead.
"""

from __future__ import annotations

from headrace._native import Buffer, copy_of, empty_buffer

__all__ = ["Buffer", "copy_of", "empty_buffer"]
