"""Splits keys and values by bucket on threads."""
