"""Selects the lines of texts in which a pattern occurs or a regular expression matches."""
