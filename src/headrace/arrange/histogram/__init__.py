"""Counts of keys by bucket."""
