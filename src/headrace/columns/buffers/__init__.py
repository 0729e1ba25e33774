"""Holds the buffers of a load's columns."""
