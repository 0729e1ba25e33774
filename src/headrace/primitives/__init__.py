"""Scans, reduces, selects, sums and copies arrays on both devices."""
