"""Sorts keys, pairs and columns; finds the first k."""
