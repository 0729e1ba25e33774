"""Compressed sources: one row a format, and their decompression."""
