"""Prints lines with a text or a match: `headrace grep`."""
