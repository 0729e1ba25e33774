"""Finds record and field ends on a GPU: tile summaries, their scan, starts."""
