"""Parses the options that commands share, and formats their messages."""
