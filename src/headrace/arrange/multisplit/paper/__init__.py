"""Variants of multisplit as published (dissertation of Ashkiani 2017)."""
