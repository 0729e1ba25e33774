"""Rows of tables by buckets or by hashes."""
