"""Prints the lines in which a text occurs or an expression matches: `headrace grep`."""
