"""Keeps tables whose columns are compressed by dictionaries."""
