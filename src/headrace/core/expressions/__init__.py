"""Compiles functions of a key, built from Python operators, for CPUs and GPUs."""
