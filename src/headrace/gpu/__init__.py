"""Runs kernels: devices, memory, transfers, compilation, launches."""
