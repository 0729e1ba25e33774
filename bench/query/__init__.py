"""Benchmarks of searches in texts."""
