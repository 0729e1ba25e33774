"""Prepares patterns: their folded bytes, periods and borders."""
