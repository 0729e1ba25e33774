"""Instruction sets, SIMD, memory regions, the thread pool, process limits."""
