"""Kernels, from their sources to their launches."""
