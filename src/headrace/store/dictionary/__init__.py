"""Encodes columns by sorted dictionaries, and merges encoded columns (Krueger et al. 2011)."""
