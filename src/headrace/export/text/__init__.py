"""Delimited text from any Arrow stream."""
