"""Reorders keys and values by bucket."""
