"""Benchmarks of dictionaries that take batches."""
