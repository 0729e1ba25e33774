"""Guesses: kinds of text that were seen, types they add up to, options that are told by looking."""
