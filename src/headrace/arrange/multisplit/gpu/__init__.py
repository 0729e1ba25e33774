"""Multisplit on a GPU."""
