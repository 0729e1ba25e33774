"""Counts keys by bucket."""
