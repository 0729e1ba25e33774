"""Reads: options as callers have them, one text or many files, tables and their reports."""
