"""Benchmarks: data, cases, contenders, and a runner that checks each result before it times it."""
