"""Sorting in host memory."""
