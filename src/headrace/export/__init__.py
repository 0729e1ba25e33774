"""Hands columns to Arrow consumers, and writes delimited text and files."""
