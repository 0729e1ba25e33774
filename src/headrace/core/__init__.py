"""Foundations of every stage: memory, threads, instruction sets, options, errors. Imports nothing else of the package."""
