"""The slab hash: hash maps in the memory of a GPU."""
