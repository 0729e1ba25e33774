"""Selects the rows of columns for which an expression of columns is true."""
