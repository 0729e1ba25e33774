"""Infers types from the kinds of text seen, and options from a sample (sniffing)."""
