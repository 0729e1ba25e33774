"""Benchmarks of maps and indexes."""
