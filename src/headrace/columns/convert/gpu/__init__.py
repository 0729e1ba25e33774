"""Shares layouts, tuning and column groups between the fast and the general path on a GPU."""
