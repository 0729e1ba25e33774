"""Matches finite automata and regular expressions against texts of bytes."""
