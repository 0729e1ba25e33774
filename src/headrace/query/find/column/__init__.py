"""Finds patterns in the rows of a column of texts in GPU memory."""
