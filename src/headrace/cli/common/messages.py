"""Prints the error messages of commands."""

from __future__ import annotations

import sys

from headrace.core.errors import MemoryLimitError, OptionError, ParseError

_ADVICE = {
    "pass schema= or names= to get": "pass --names A,B,... to get",
    "with hive_partitioning=True": "with --hive",
    "Store(path, schema=...) creates one": "headrace store create makes one",
    "name another folder, or open it without schema=": "name another folder",
    "alter() needs add=, drop=, rename= or widen=": "name a change: --add, --drop, --rename or --widen",
    "columns (columns=), smaller types (dtypes=), fewer listed faults, batches (scan_csv), or with fewer threads": (
        "columns (--columns), smaller types (--dtypes), fewer listed faults (--max-rejects), or with fewer threads (--threads)"
    ),
    "pass null='NA' and read it with null_values='NA'": "write a format that has nulls, such as .parquet",
}
"""Advice of the library, and that of the command in its place."""


def message_of(error: BaseException) -> str:
    """Return the message of an error, with advice for users of the command in place of that for callers of the library."""
    if isinstance(error, ParseError):
        # The library's message ends with advice for Python callers.
        fault = str(error).rpartition("; pass ")[0] or str(error)
        return f"{fault}\nTo continue after bad records: --on-error reject, and --rejects FILE to keep them."
    if isinstance(error, OptionError):
        from headrace.cli.common import options
        from headrace.cli.common.words import in_flags

        message = _advised(str(error)).replace("header=True", "--header").replace("header=False", "--no-header")
        return in_flags(message, options.flags())
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename!r}: {error.strerror}"
    if isinstance(error, MemoryError) and not isinstance(error, MemoryLimitError):
        return "out of memory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return _advised(str(error))


def _advised(message: str) -> str:
    for call, command in _ADVICE.items():
        message = message.replace(call, command)
    return message


def print_error(message: str) -> None:
    """Print a message to standard error, if that is open."""
    try:  # noqa: SIM105  `contextlib` takes time to import
        print(f"headrace: {message}", file=sys.stderr, flush=True)
    except OSError:
        pass  # the exit code is left
