"""Finishes columns: smaller types, row numbers, patched strings, concatenation."""
