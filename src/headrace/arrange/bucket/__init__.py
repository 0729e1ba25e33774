"""Defines bucket functions: as Python values, and as rules that CPU and GPU share."""
