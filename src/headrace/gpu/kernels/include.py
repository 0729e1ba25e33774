"""Names the folder of the headers that kernels of users may include."""

from __future__ import annotations

from headrace.gpu.kernels.source import PACKAGE


def include_path() -> str:
    """Return the folder of the package's CUDA headers, for the compiler's option ``-I``.

    The headers need C++20, and no header of CUDA. They may change with every version of this package.

    Examples
    --------
    >>> import pathlib
    >>> pathlib.Path(include_path(), "index/hash_map/gpu/hash_map_ref.cuh").exists()
    True
    """
    return str(PACKAGE)
