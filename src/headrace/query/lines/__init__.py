"""Selects lines in which a pattern occurs or an expression matches."""
