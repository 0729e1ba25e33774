"""Benchmarks of reading text to columns, and of writing it."""
