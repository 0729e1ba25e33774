"""Imports optional packages that tables and scans can be converted for."""

from __future__ import annotations

from typing import Any

from headrace.core.errors import MissingDependencyError
from headrace.core.options import choice, instance


def needed(package: str, extra: str | None, what: str) -> Any:
    """Import a package.

    Raise MissingDependencyError if the package is not installed. The message says how to install it.

    `extra`: extra of headrace that installs it; None if there is none.
    `what`: the call that needs it, for the error message.
    """
    try:
        return __import__(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # the package is installed, but a dependency of it is missing
        raise MissingDependencyError.of(package, extra, what) from None


def pandas_types(pandas: Any, dtype_backend: object) -> Any:
    """Return the function from Arrow's types to those of pandas, for ``pyarrow.Table.to_pandas``.

    Raise OptionError if there is no such backend.
    """
    if choice("dtype_backend", dtype_backend, ("numpy_nullable", "pyarrow")) == "pyarrow":
        return pandas.ArrowDtype
    names = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)] + ["Float32", "Float64"]
    types = {name.lower().replace("float32", "float").replace("float64", "double"): name for name in names}
    types |= {"bool": "boolean", "string": "string", "large_string": "string"}
    return lambda arrow_type: pandas.api.types.pandas_dtype(types[str(arrow_type)]) if str(arrow_type) in types else None


def duckdb_connection(given: object) -> Any:
    """Return the given connection of DuckDB; for None, DuckDB's module, which has a default connection.

    Raise MissingDependencyError if DuckDB is not installed. Raise OptionError if the value is not a connection.
    """
    module = needed("duckdb", "duckdb", "to_duckdb()")
    if given is None or given is module:
        return module
    return instance("connection", given, module.DuckDBPyConnection, "a connection of DuckDB or None")
