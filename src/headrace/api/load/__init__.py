"""The steps of a read between an open source and a table."""
