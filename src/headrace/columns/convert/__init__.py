"""Converts fields to values and strings: column by column on a CPU, by the fast or the general path on a GPU."""
