"""Inserts batches by blocks, each of which alone changes some lists: small batches, and bulk builds."""
