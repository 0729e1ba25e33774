"""Encodes columns by sorted dictionaries, merged as in Krueger 2011."""
