"""Finished columns on a GPU."""
