"""Encodes text columns as string views or dictionaries, and decodes them."""
