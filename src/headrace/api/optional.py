"""Packages that a table or a scan can be given to, and that this one does not need."""

from __future__ import annotations

from typing import Any

from headrace.core.errors import MissingDependencyError


def needed(package: str, extra: str, what: str) -> Any:
    """The package, for `what`.

    Raises
    ------
    MissingDependencyError
        It is not installed; `extra` brings it.
    """
    try:
        return __import__(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # it is there, and something that it needs is not
        raise MissingDependencyError.of(package, extra, what) from None
