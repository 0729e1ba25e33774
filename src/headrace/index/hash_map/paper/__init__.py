"""Measures SlabAlloc and the allocator of CUDA, as published (Ashkiani 2017, section 5.5)."""
