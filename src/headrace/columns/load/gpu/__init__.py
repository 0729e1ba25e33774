"""Loads a text into columns on a GPU: search, estimate, convert, collect."""
