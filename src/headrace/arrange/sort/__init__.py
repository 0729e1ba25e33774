"""Sorting: keys alone, keys with values, places of keys, the first of them."""
