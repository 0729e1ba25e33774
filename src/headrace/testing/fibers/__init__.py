"""Runs kernels without a GPU: threads are fibers, and each access is checked.

`program` compiles a ``.cu`` file. Its ``launch`` runs a kernel on NumPy arrays. It raises `KernelError` for faults that would
give a wrong result, a hang or a crash on a GPU. See docs/fiber-harness.md for the faults.
"""

from headrace.testing.fibers.build import BuildError, Program, kernels_of, program
from headrace.testing.fibers.findings import KernelError
from headrace.testing.fibers.launch import Checks, Counts

__all__ = ["BuildError", "Checks", "Counts", "KernelError", "Program", "kernels_of", "program"]
