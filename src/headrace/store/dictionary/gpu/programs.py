"""Lists the programs that the kernels of this folder are compiled to, as computed from the tuning table."""

from headrace.store.dictionary.gpu.tuning import PROGRAMS

__all__ = ["PROGRAMS"]
