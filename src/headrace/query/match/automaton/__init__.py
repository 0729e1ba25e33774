"""Defines automata, and the tables of states that a search needs."""
