"""Loads a text into columns on threads: passes, tiles, workers."""
