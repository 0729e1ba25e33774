"""What machine a result is from."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("pyarrow", "polars", "duckdb", "pandas", "numpy")


def description() -> dict[str, str]:
    """Processor, cores, memory, kernel, versions."""
    return {
        "processor": _field("/proc/cpuinfo", "model name"),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "headrace": _headrace(),
        **{package: _version(package) for package in PACKAGES},
    }


def _field(path: str, name: str) -> str:
    lines = Path(path).read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "?")


def _headrace() -> str:
    """Asked of the package itself: what is run from its sources has no metadata."""
    try:
        import headrace
    except ImportError:
        return "not installed"
    return str(headrace.__version__)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
