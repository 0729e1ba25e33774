"""Shares digits, arrays and launches among the sorts."""
