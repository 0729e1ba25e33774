"""Finds values and rows by key."""
