"""Implements published variants of multisplit, for comparison (dissertation of Ashkiani 2017)."""
