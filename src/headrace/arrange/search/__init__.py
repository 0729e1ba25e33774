"""Searches sorted arrays, finds distinct keys, and counts small integers."""
