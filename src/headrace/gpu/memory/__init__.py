"""Allocates device memory in stream order, and pinned host memory."""
