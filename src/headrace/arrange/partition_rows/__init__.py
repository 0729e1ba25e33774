"""Partitions the rows of tables by bucket or by hash."""
