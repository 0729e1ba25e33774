"""Parses the arguments of the command `headrace`, runs it, and returns its exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from headrace import __version__
from headrace.cli import completion, count, demo, grep, head, kernels, load, profile, schema, sniff
from headrace.cli.bench import bench
from headrace.cli.common import options
from headrace.cli.common.parser import Parser
from headrace.cli.common.words import in_flags
from headrace.cli.report import report
from headrace.cli.view import view
from headrace.core.errors import (
    EmptyInputError,
    HeadraceError,
    MemoryLimitError,
    MissingDependencyError,
    OptionError,
    ParseError,
)

DATA_FAULT, MISUSE, NO_ACCESS, NO_PACKAGE, INTERRUPTED, PIPE_CLOSED = 1, 2, 3, 4, 130, 141

_EPILOG = """\
exit codes:
  0    success; also if records were rejected because of --on-error (they are counted and shown)
  1    fault in the data: the first bad record is shown, nothing is written
  2    error in the command: an unknown option, column, type or suffix
  3    a file cannot be read or written, or there is not enough memory
  4    an optional package is missing; the message says how to install it
  130  interrupted (Ctrl-C); no incomplete file is left
  141  the output was closed by its reader (as in: headrace demo | head)
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv
        Arguments without the name of the command; None for those of the process.

    Returns
    -------
    int
        Exit code; the help lists them.
    """
    _prepare_streams()
    parser = make_parser()
    words = sys.argv[1:] if argv is None else argv
    try:
        given = parser.parse_args(words or ["--help"])
        code: int = given.run(given)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse: 0 after --help and --version, 2 after a usage message
        return stop.code if isinstance(stop.code, int) else MISUSE
    except KeyboardInterrupt:
        return _fail(INTERRUPTED, "interrupted")
    except BrokenPipeError:
        # The interpreter flushes stdout once more when it exits, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (HeadraceError, OSError, MemoryError) as error:
        return _fail(_code_of(error), _message_of(error))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = Parser(
        prog="headrace",
        description="Read delimited text into typed columns, and account for every bad record.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"headrace {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (load, sniff, schema, head, view, count, grep, report, profile, kernels, bench):
        command.add_parser(commands, _EPILOG)
    demo.add_parser(commands)
    completion.add_parser(commands, parser)
    return parser


def _prepare_streams() -> None:
    """Escape characters that the terminal cannot show, and discard output to closed streams (``>&-``)."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  open until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _code_of(error: Exception) -> int:
    if isinstance(error, ParseError | EmptyInputError):
        return DATA_FAULT
    if isinstance(error, OptionError):
        return MISUSE
    if isinstance(error, MissingDependencyError):
        return NO_PACKAGE
    return NO_ACCESS


def _message_of(error: Exception) -> str:
    if isinstance(error, ParseError):
        # The library's message ends with advice for Python callers.
        what = str(error).rpartition("; pass ")[0] or str(error)
        return f"{what}\nTo continue after bad records: --on-error reject, and --rejects FILE to keep them."
    if isinstance(error, EmptyInputError):
        return "the input has no record; pass --names A,B,... to read an empty table"
    if isinstance(error, OptionError):
        message = str(error).replace("header=True", "--header").replace("header=False", "--no-header")
        return in_flags(message, options.flags())
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename!r}: {error.strerror}"
    if isinstance(error, MemoryError) and not isinstance(error, MemoryLimitError):
        return "out of memory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)


def _fail(code: int, message: str) -> int:
    with suppress(OSError):  # standard error is closed; the exit code is left
        print(f"headrace: {message}", file=sys.stderr, flush=True)
    return code
