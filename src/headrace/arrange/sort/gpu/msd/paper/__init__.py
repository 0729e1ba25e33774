"""Scatters by kept counts, as published (Stehle and Jacobsen 2017)."""
