"""Compares values of readers that hold dates, numbers and nulls in different ways."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl

import headrace


def plain(value: Any) -> object:
    """Return a value as a text, a number or None: readers differ in how they hold dates, numbers and nulls."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat().removesuffix("T00:00:00").replace("T", " ")
    return str(value) or None


def values_of(found: Any) -> Any:
    """Return nested lists of plain values, of a table or column of any library, or of Python values."""
    if isinstance(found, headrace.Column):
        return values_of({"": found.to_pylist()})
    if isinstance(found, duckdb.DuckDBPyRelation):
        found = found.to_arrow_table()
    for form in ("to_pydict", "to_dict"):
        if hasattr(found, form):
            arguments = {"to_dict": {"as_series": False} if isinstance(found, pl.DataFrame) else {"orient": "list"}}.get(form, {})
            return [[plain(value) for value in column] for column in getattr(found, form)(**arguments).values()]
    if isinstance(found, dict):
        return {str(name) if name else "": values_of(value) for name, value in found.items()}
    if isinstance(found, np.ndarray):
        found = found.tolist()
    if isinstance(found, list | tuple):
        return [values_of(one) for one in found]
    return plain(found)
