"""The command's parser of arguments: argparse's, with short words where a command makes no sense."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Takes whole names of options only; its subcommands are of this class too."""

    def __init__(self, **keywords: object) -> None:
        super().__init__(**({"allow_abbrev": False} | keywords))  # type: ignore[arg-type]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse's, but for the value "--" of an option (``--to=--``), of which argparse makes an empty list."""
        given = list(sys.argv[1:] if args is None else args)
        for word in given[: given.index("--") if "--" in given else len(given)]:
            if word.startswith("--") and word.endswith("=--"):
                self.error(f"argument {word.partition('=')[0]}: expected a value, got '--'")
        return super().parse_known_args(given, namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is. The usage, 20 lines of options, would push that off the screen."""
        self.exit(2, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")
