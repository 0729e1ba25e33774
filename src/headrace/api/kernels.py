"""The package's kernels for GPUs, as the command sees them."""

from headrace.core.gpu.kernel_build import Built, build_kernels
from headrace.core.gpu.kernel_cache import PREBUILT, user_folder
from headrace.core.gpu.kernel_source import all_variants

__all__ = ["PREBUILT", "Built", "all_variants", "build_kernels", "user_folder"]
