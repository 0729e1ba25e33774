"""Joins, compiles, caches and launches kernels; traces and replays launches."""
