"""Converts text on a GPU by the fast path: one record per thread."""
