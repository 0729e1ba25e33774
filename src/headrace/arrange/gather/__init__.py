"""Items and columns gathered by row numbers."""
