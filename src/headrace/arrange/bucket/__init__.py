"""Bucket functions: as values, as rules shared by both devices, as expressions of a user's own."""
