"""Shared rules: packed codes, translation, merge of dictionaries."""
