"""Conversion on a GPU: what the fast and the general path share."""
