"""Oracles, strategies and comparisons that every backend is tested with."""
