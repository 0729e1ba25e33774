"""Sorts on a GPU; the planner chooses a way by size, type and a sample."""
