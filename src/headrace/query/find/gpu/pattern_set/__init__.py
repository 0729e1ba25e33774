"""Finds several patterns of bytes in one search."""
