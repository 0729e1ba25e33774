"""Loads on a GPU."""
