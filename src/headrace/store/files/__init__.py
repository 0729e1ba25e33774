"""Keeps logs, mains and a manifest as checked files, and recovers them."""
