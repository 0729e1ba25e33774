"""Re-exports what the command needs to list and compile the kernels for GPUs."""

from headrace.gpu.kernels.build import Built, build_kernels
from headrace.gpu.kernels.cache import user_folder
from headrace.gpu.kernels.source import all_variants

__all__ = ["Built", "all_variants", "build_kernels", "user_folder"]
