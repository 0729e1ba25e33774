"""Merges dictionaries and translates packed codes on a GPU."""
