"""Sorting on a GPU."""
