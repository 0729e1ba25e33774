"""Automata of expressions over the bytes of a line, and their states, made when a text needs them."""
