"""Holds slab lists that many blocks fill, and their allocator."""
