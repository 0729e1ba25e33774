"""Inserts batches by blocks that own lists: small batches, bulk builds."""
