"""Implements the command `headrace`."""
