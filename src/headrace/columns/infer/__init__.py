"""Infers types, dialects and headers, and widens types during a load."""
