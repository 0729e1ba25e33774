"""Bucket functions: which bucket a key is in."""
