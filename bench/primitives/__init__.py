"""Benchmarks of a machine's limits, and of scans, reductions, selections and histograms."""
