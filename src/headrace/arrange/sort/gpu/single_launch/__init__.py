"""Sorts few keys on a GPU in one launch."""
