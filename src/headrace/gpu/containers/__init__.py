"""Containers in device memory that the threads of many blocks fill: slab lists and their allocator."""
