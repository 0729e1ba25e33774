"""Exports the buffers that results are stored in: bytes on a device, with shared ownership; and the release of unused memory.

A host buffer supports Python's buffer protocol (``memoryview(buffer)``). A GPU buffer (`gpu.memory.pool`) has the same
attributes and supports ``__cuda_array_interface__`` instead.
"""

from typing import TypeAlias

from headrace import _native

__all__ = ["Buffer", "copy_of", "empty_buffer", "part_of", "release_unused_memory"]

Buffer: TypeAlias = _native.Buffer
copy_of = _native.copy_of
empty_buffer = _native.empty_buffer
part_of = _native.part_of
release_unused_memory = _native.release_unused_memory
