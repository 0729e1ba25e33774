"""Gathers items and columns by row numbers."""
