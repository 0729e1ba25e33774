"""Faults of a load on a GPU: listed, located, resolved, removed."""
