"""Faults: resolved, listed as the table of rejects, and their rows removed."""
