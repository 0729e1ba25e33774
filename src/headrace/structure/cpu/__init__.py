"""Finds record and field ends on threads: SIMD masks, or the DFA."""
