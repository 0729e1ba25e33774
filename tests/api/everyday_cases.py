"""Compares values of readers that hold dates, numbers and nulls in different ways."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

import numpy as np
import pandas as pd


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
