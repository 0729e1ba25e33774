"""Extracts keys of frequent values before the rest is sorted."""
