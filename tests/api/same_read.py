"""Compares a read on a GPU with the read on the CPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import headrace
from headrace import Table
from tests.columns.load.load_gpu_cases import same_table


def same_read(read: Callable[..., Table], data: bytes, options: dict[str, Any]) -> tuple[Table, Table] | None:
    """Compare table and rejects of a read with those of the CPU, and return both tables; None after equal errors."""
    try:
        expected = headrace.read_csv(data, **options)
    except headrace.HeadraceError as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            read(data, **options)
        return None
    found = read(data, **options)
    same_table(found, expected)
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    return found, expected
