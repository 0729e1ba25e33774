"""Keeps rows in compressed columns that change, in memory or in files."""
