"""A sort on a GPU by parts, the highest digits first: the hybrid radix sort."""
