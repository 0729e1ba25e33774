"""Holds compiled kernels of headrace in its folder `cubins`, which headrace searches."""
