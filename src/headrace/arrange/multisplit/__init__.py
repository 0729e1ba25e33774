"""Keys and values in the order of their buckets."""
