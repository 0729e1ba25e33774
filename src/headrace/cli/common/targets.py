"""Refuses files to write that are read, or that cannot be written, before a command begins its work."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence

from headrace.api.files import check_target, checked_path
from headrace.cli.common.options import STDIN
from headrace.core.errors import OptionError


def files_read(given: Sequence[str]) -> dict[str, str]:
    """Return the files that arguments name, also by patterns: from the real path to the name that was given."""
    named = [checked_path(file, "FILE") for file in given]
    files = [path for file in named if file != STDIN for path in (file, *glob.iglob(file, recursive=True))]
    return {os.path.realpath(file): file for file in files}


def check_output(option: str, path: str, used: Mapping[str, str]) -> None:
    """Refuse a file to write that has no known suffix or cannot be written, or that is one of the `used` files."""
    check_target(path)
    if (real := os.path.realpath(path)) in used:
        raise OptionError(f"{option} {path!r} is the same file as {used[real]!r}; name another")
