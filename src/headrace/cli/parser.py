"""The command's parser of arguments: argparse's, with short words where a command makes no sense."""

from __future__ import annotations

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Takes whole names of options only; its subcommands are of this class too."""

    def __init__(self, **keywords: object) -> None:
        super().__init__(**({"allow_abbrev": False} | keywords))  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where help is. The usage, 20 lines of options, would push that off the screen."""
        self.exit(2, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")
