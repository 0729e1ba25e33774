"""Describes the machine, the commit and the day of a result."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = ("pyarrow", "polars", "duckdb", "pandas", "numpy")
_ROOT = Path(__file__).parents[1]


@cache
def description() -> dict[str, str]:
    """Return commit, date, processor, cores, memory, kernel, GPU if there is one, and versions."""
    return {
        "commit": commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        **_gpu(),
        "processor": _field("/proc/cpuinfo", "model name"),
        "processor model": "-".join(_field("/proc/cpuinfo", name) for name in ("cpu family", "model\t", "stepping")),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "headrace": _headrace(),
        **{package: _version(package) for package in PACKAGES},
    }


def description_line() -> str:
    """Return the machine and the versions as one line of text."""
    return "; ".join(f"{key} {value}" for key, value in description().items())


def commit() -> str:
    """Return 12 digits of HEADRACE_COMMIT, for a copy of the sources without .git, or else of HEAD; "?" without either."""
    if given := os.environ.get("HEADRACE_COMMIT"):
        return given[:12]
    found = _output("git", "-C", str(_ROOT), "rev-parse", "HEAD")
    return found[:12] or "?"


def _gpu() -> dict[str, str]:
    """Return name and driver of the first GPU."""
    name, _, driver = _output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").partition(", ")
    return {"gpu": name, "driver": driver.partition("\n")[0]} if driver else {}


def _output(*command: str) -> str:
    """Return the output of a program; empty if it is not installed or fails."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _field(path: str, name: str) -> str:
    lines = Path(path).read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "?")


def _headrace() -> str:
    """Return the version from the package itself, since a source tree has no metadata."""
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
