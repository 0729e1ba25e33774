"""Mutation tests: planted errors of one token, each of which a test near it must find (docs/mutation-tests.md)."""
