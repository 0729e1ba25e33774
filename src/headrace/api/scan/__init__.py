"""Streams: a text part by part, on the host's threads or through a GPU."""
