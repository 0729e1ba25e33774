"""Sorts on a GPU."""
