"""The search for structure on a GPU."""
