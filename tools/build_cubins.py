"""Compiles the kernels of a source tree into a folder, for a wheel.

Usage: python tools/build_cubins.py FOLDER [COUNT]
Compiles the first COUNT programs, or all. The package need not be built, because its native part is not imported.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path


def main(folder: str, count: int | None = None) -> None:
    package = types.ModuleType("headrace")
    package.__path__ = [str(Path(__file__).parent.parent / "src" / "headrace")]
    sys.modules["headrace"] = package
    from headrace.gpu.kernels.build import build_kernels
    from headrace.gpu.kernels.source import all_variants

    built = list(build_kernels(folder=folder, variants=list(all_variants())[:count]))
    print(f"{len(built)} programs, {sum(each.nbytes for each in built):_} bytes")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
