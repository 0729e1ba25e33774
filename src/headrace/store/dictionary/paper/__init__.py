"""Variants of the dictionary merge as published (Krueger 2011)."""
