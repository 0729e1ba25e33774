"""Wraps the CUDA driver: devices, streams, events."""
