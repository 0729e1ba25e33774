"""Measures SlabAlloc beside the allocator of CUDA (Ashkiani 2017, 5.5)."""
