"""Keeps rows in compressed columns that take changes, in memory or durable in files."""
