"""Runs automata over texts in GPU memory."""
