"""Files of control groups in a folder that stands for the root of the file system."""

from __future__ import annotations

from pathlib import Path


def write_files(root: Path, files: dict[str, str]) -> None:
    """Write files below `root`, by their names."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
