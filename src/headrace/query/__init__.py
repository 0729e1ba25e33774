"""Searches texts."""
