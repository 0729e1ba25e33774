"""Variants of multisplit as published (Ashkiani 2017)."""
