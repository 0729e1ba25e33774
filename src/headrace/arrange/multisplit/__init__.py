"""Sorts keys and values by bucket."""
