"""Counts the keys of each bucket."""
