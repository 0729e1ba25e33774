"""Output files: compression, and atomic replacement."""
