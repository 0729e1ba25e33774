"""Keeps slab lists: batches of operations, growth, groups of rows."""
