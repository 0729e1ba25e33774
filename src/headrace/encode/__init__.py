"""Converts text columns to string views and dictionaries, and back."""
