"""Sorts small arrays in one launch."""
