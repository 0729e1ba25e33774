"""Buffers of columns on a GPU."""
