"""Gathers items and columns by row number."""
