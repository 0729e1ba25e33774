"""Stores rows as compressed columns and a log of changes."""
