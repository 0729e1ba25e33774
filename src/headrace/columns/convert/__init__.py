"""Converts fields to values."""
