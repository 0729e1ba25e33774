"""Shared rules of CPU and GPU: the operations of a mixed batch, and the seeded hash of keys."""
