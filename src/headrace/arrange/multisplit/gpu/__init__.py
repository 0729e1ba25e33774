"""Splits keys and values by bucket on a GPU."""
