"""Evaluates conditions on rows in host memory, block by block."""
