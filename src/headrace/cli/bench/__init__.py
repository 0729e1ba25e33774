"""Repeats the measurements of papers: `headrace bench paper`."""
