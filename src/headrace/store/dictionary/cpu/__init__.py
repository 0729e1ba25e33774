"""Merges dictionaries and translates packed codes on the CPU."""
