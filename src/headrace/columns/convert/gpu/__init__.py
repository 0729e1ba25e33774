"""Converts fields to values on a GPU."""
