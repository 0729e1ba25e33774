"""Updates and searches levels in the memory of a GPU."""
