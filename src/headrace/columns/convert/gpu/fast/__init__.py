"""Conversion on a GPU, fast path: a thread converts a record."""
