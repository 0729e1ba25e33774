"""Shared rules: the mixed operations, and the seeded hash of keys."""
