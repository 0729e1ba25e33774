"""Primitives on arrays, on both devices: scan, reduce, select, sums of floats, copies."""
