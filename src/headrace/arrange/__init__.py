"""Partitions, gathers, counts and sorts arrays and tables."""
