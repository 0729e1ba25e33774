"""Benchmarks: data, cases, contenders, and a runner that checks every answer before it times it."""
