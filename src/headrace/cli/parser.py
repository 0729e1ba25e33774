"""Parses arguments with argparse, with short error messages."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that takes only complete names of options. Its subcommands are of this class too."""

    def __init__(self, **keywords: object) -> None:
        super().__init__(**({"allow_abbrev": False} | keywords))  # type: ignore[arg-type]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as argparse does, but refuse the value "--" of an option (``--to=--``), which argparse makes an empty list."""
        given = list(sys.argv[1:] if args is None else args)
        for word in given[: given.index("--") if "--" in given else len(given)]:
            if word.startswith("--") and word.endswith("=--"):
                self.error(f"argument {word.partition('=')[0]}: expected a value, got '--'")
        return super().parse_known_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the error and how to get help, and exit. The usage is not printed, because it has 20 lines."""
        self.exit(2, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")
