"""Draws floats whose sum depends on the order of addition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def floats_of(dtype: str, count: int) -> NDArray[np.floating]:
    random = np.random.default_rng(count)
    return (random.standard_normal(count) * 10.0 ** random.integers(-6, 6, count)).astype(dtype)
