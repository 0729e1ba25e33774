"""Sorts from the lowest digit up, one pass a digit (onesweep)."""
