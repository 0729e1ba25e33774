"""Sorts keys, keys with values, indices of keys, and the first k keys."""
