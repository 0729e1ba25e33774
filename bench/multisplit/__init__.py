"""Benchmarks of multisplit."""
