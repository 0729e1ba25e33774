"""Measures reads of many shapes of data beside peers. A file is as fast as its slowest column, so the worst shape counts."""
