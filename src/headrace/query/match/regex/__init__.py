"""Compiles regular expressions to automata."""
