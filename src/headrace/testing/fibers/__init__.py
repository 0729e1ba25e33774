"""Runs kernels without a GPU: g++ compiles them, threads are fibers.

`program` compiles a ``.cu`` file, ``launch`` runs one of its kernels on NumPy arrays and raises `KernelError` for what a
GPU would answer with a wrong result, a hang or a crash. docs/fiber-harness.md says what is found and what is not.
"""

from headrace.testing.fibers.build import BuildError, Program, program
from headrace.testing.fibers.findings import KernelError
from headrace.testing.fibers.launch import Checks, Counts

__all__ = ["BuildError", "Checks", "Counts", "KernelError", "Program", "program"]
