"""Benchmarks: data, cases, contenders, and a runner that checks each result before it times it."""

import os

os.environ.setdefault("HEADRACE_FIRST_READ", "compile")  # the CPU answers for no GPU
