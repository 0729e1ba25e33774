"""Checks an extension: sequential oracles, a harness that runs kernels without a GPU, and hypothesis strategies.

`strategies` needs hypothesis.
"""
