"""The options of a read: one table, their parsers, and their values in groups."""
