"""Parses the arguments of the command `headrace`, runs it, and returns its exit code."""

from __future__ import annotations

import io
import os
import sys

from headrace import __version__
from headrace.cli.common.messages import message_of, print_error
from headrace.core.errors import EmptyInputError, HeadraceError, MissingDependencyError, OptionError, ParseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any, NoReturn

DATA_FAULT, MISUSE, NO_ACCESS, NO_PACKAGE, INTERRUPTED, PIPE_CLOSED = 1, 2, 3, 4, 130, 141

_MODULES = {
    "load": "load",
    "sniff": "sniff",
    "schema": "schema",
    "head": "head",
    "view": "view.view",
    "count": "count",
    "grep": "grep.grep",
    "store": "store",
    "report": "report.report",
    "profile": "profile",
    "kernels": "kernels",
    "bench": "bench.bench",
    "demo": "demo",
}  # Modules of the commands below `headrace.cli`, in the order of the help. Only that of the given command is imported.

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


def run() -> NoReturn:
    """Run the command with the arguments of the process, and end that.

    A search leaves nothing for the end of the interpreter, which would take as long as the search of a small file.
    """
    code = main()
    if sys.argv[1:2] == ["grep"]:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    `argv`: arguments without the name of the command; None for those of the process.
    Result: exit code; the help lists them.
    """
    _prepare_streams()
    words = sys.argv[1:] if argv is None else argv
    try:
        given = _parsed(words)
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
        return _fail(_code_of(error), message_of(error))


def _parsed(words: Sequence[str]) -> Any:
    """Return the arguments of a command and, as ``run``, its function."""
    if words[:1] == ["grep"]:  # a short command, of whose time argparse takes a third
        from headrace.cli.grep import grep

        if (given := grep.parsed(words[1:])) is not None:
            return given
    return make_parser(words[0] if words else None).parse_args(words or ["--help"])


def make_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command: of one subcommand, or of all if `command` names none."""
    from importlib import import_module  # takes time to import

    from headrace.cli.common.parser import Parser

    parser = Parser(
        prog="headrace", description="Read delimited text into typed columns, and account for every bad record.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="version", version=f"headrace {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in [command] if command in _MODULES else _MODULES:
        import_module(f"headrace.cli.{_MODULES[name]}").add_parser(commands, _EPILOG)
    if command not in _MODULES:
        from headrace.cli import completion  # takes time to import

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


def _fail(code: int, message: str) -> int:
    print_error(message)
    return code
