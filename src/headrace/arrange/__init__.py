"""Counts, splits, gathers and sorts keys, values and rows."""
