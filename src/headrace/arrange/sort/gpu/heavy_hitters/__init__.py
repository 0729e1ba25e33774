"""Extracts the keys of heavy hitters before a GPU sort."""
