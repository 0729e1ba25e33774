"""Keeps several values for a key: lists of slabs in which keys come again."""
