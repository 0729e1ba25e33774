"""Converts one column of one tile, compiled for each instruction set."""
