"""Columns handed to other libraries."""
