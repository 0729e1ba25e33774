"""Finds one pattern of bytes in a text."""
