"""Automata over the bytes of a line; states are made at first use."""
