"""Finds a pattern in a text in GPU memory."""
