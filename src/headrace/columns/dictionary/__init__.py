"""Encodes texts as dictionaries: the distinct texts, and a code for each row."""
