"""Loads: which part of a text is data, passes over it, threads, the launches of a GPU."""
