"""Converts plain tiles, one record a thread; declines all others."""
