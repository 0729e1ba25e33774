"""Limits of the kernels' fast forms of numbers, dates and times, against the CPU: the values of test_fast_numbers_rules.py."""

from __future__ import annotations

import pytest

from tests.columns.faults.load_gpu_faults_cases import check
from tests.columns.rules.fast_numbers_cases import GOOD, VALUES

pytestmark = pytest.mark.fibers


@pytest.mark.parametrize("kind", VALUES)
def test_values_at_the_limits_of_fast_forms(kind: str) -> None:
    good = GOOD.get(kind, "01:00:00" if kind.startswith("time32") else "1")
    data = "".join(f"{text}|x\n" for value in VALUES[kind] for text in (good, value)).encode()
    check(data, sep="|", header=False, schema=[kind, "string"], on_error="null")


@pytest.mark.parametrize("text", ["00", "07", "-07", "012345678", "00.5", "09.5"])
def test_numbers_with_leading_zeros_are_text(text: str) -> None:
    check(b"1.5\n" * 40 + text.encode() + b"\n" + b"2.5\n" * 40, header=False)
