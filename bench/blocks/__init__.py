"""Builds the figures of the documents from result files (bench/readme.py)."""
