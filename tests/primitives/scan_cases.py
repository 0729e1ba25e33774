"""Lists the cases of a scan: operators, items and sizes."""

from __future__ import annotations

from tests.primitives.primitives_cases import NUMPY_TYPE

CASES = [(join, dtype) for dtype in NUMPY_TYPE for join in ("Sum", "Min", "Max") if join != "Sum" or NUMPY_TYPE[dtype][0] != "f"]
