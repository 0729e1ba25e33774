"""Converts the declined tiles field by field, by the shared rules."""
