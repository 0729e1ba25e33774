"""Finds records and fields: dialects, their DFA, and the search."""
