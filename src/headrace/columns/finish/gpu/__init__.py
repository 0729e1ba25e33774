"""Finishes columns on a GPU."""
