"""Packages that a table or a scan can be given to, and that this one does not need."""

from __future__ import annotations

from typing import Any

from headrace.core.errors import MissingDependencyError
from headrace.core.options import instance


def needed(package: str, extra: str | None, what: str) -> Any:
    """The package, for `what`.

    Raises
    ------
    MissingDependencyError
        It is not installed; `extra` brings it, if there is one.
    """
    try:
        return __import__(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # it is there, and something that it needs is not
        raise MissingDependencyError.of(package, extra, what) from None


def duckdb_connection(given: object) -> Any:
    """A connection of DuckDB as it is given, or DuckDB's module, which has a default one, for None.

    Raises
    ------
    MissingDependencyError
        DuckDB is not installed.
    OptionError
        It is something else.
    """
    module = needed("duckdb", "duckdb", "to_duckdb()")
    if given is None or given is module:
        return module
    return instance("connection", given, module.DuckDBPyConnection, "a connection of DuckDB or None")
