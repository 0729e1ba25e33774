"""Keeps an ordered dictionary as sorted levels (GPU LSM, Ashkiani, chapter 4)."""
