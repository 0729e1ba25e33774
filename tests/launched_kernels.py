"""Compares the kernels that a test run has launched under the fiber harness with all kernels of the package.

`pytest --record-kernels FOLDER` writes the first. This module runs as ``python -m tests.launched_kernels FOLDER`` and fails if a
kernel is missing. So a test marked as long cannot leave a kernel without a test in the default selection.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from headrace.gpu.kernels.source import Variant, all_programs, joined_source

_KERNEL = re.compile(r'extern "C" __global__ void(?:[\s\\]+__launch_bounds__\([^()]*\))?[\s\\]+(\w+(?:##\w+)?)')

Kernel = tuple[str, str]
"""The stem of a ``.cu`` file, and the name of a kernel in it: ``label_##rule`` stands for the kernels of a macro."""


def all_kernels() -> set[Kernel]:
    """Return every kernel of every file, also of programs that are compiled at their first use."""
    files = dict.fromkeys(file for file, _ in all_programs())
    return {(PurePosixPath(file).stem, name) for file in files for name in _KERNEL.findall(joined_source(Variant(file)))}


def launched(folder: Path) -> set[Kernel]:
    """Return the kernels that the processes of a test run have recorded in `folder`."""
    return {(stem, name) for path in folder.glob("kernels-*.json") for stem, name in json.loads(path.read_text("utf-8"))}


def missing(kernels: Iterable[Kernel], found: Iterable[Kernel]) -> list[str]:
    """Return the kernels that are not among those found, as ``file.cu: name``. One kernel of a macro stands for all."""
    names = set(found)

    def is_found(stem: str, name: str) -> bool:
        prefix, is_macro, _ = name.partition("##")
        if not is_macro:
            return (stem, name) in names
        return any(file == stem and kernel.startswith(prefix) for file, kernel in names)

    return [f"{stem}.cu: {name}" for stem, name in sorted(set(kernels)) if not is_found(stem, name)]


def main(folder: Path) -> int:
    kernels = all_kernels()
    left = missing(kernels, launched(folder))
    sys.stdout.writelines(f"{kernel} is launched by no test\n" for kernel in left)
    sys.stdout.write(f"{len(kernels) - len(left)} of {len(kernels)} kernels were launched under the fiber harness\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
