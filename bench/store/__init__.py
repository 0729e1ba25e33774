"""Benchmarks of the column store."""
