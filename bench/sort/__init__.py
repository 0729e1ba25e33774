"""Benchmarks of sorting."""
