"""Indexes keys: dictionaries that take batches."""
