"""Splitting by buckets."""
