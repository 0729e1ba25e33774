"""Runs automata over texts in host memory."""
