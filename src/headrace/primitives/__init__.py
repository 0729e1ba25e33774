"""Scan, reduce, select, float sums and copies on arrays, on both devices."""
