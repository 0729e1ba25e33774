"""Limits of the kernels' fast forms of numbers, dates and times, against the CPU: the values of test_fast_numbers_rules.py."""

from __future__ import annotations

import pytest

from headrace.columns.infer.infer_gpu import SHORT_SAMPLE
from tests.columns.faults.load_gpu_faults_cases import check
from tests.columns.rules.fast_numbers_cases import GOOD, VALUES

pytestmark = pytest.mark.fibers


@pytest.mark.parametrize("kind", VALUES)
def test_values_at_the_limits_of_fast_forms(kind: str) -> None:
    good = GOOD.get(kind, "01:00:00" if kind.startswith("time32") else "1")
    data = "".join(f"{text}|x\n" for value in VALUES[kind] for text in (good, value)).encode()
    check(data, sep="|", header=False, schema=[kind, "string"], on_error="null")


@pytest.mark.parametrize("kind", ["int8", "int16", "int32"])
def test_the_number_below_the_lowest_is_a_fault(kind: str) -> None:
    """No other fault keeps the kernels from their fast form."""
    lowest = -(1 << int(kind[3:]) - 1)
    data = "".join(f"{lowest}|x\n" for _ in range(100)) + f"{lowest - 1}|x\n"
    check(data.encode(), sep="|", header=False, schema=[kind, "string"], on_error="null")


@pytest.mark.parametrize("plain", ["7", "1.5"])
@pytest.mark.parametrize("text", ["00", "07", "-07", "012345678", "00.5", "09.5"])
def test_numbers_with_leading_zeros_are_text(plain: str, text: str) -> None:
    """The first guess of the column's type sees plain numbers only, so the kernels decide."""
    guessed = f"{plain}\n" * (SHORT_SAMPLE // len(f"{plain}\n") + 1)
    check(f"{guessed}{text}\n{plain}\n".encode(), header=False)


@pytest.mark.parametrize(("sep", "decimal"), [(";.", "."), (".;", "."), (";,", ",")])
def test_a_separator_may_end_with_the_decimal_mark(sep: str, decimal: str) -> None:
    """The byte before a field is then a mark that does not belong to its number."""
    data = "".join(f"{i}{sep}{i % 97}{sep}1{decimal}5\n" for i in range(200)).encode()
    for kind in ("int64", "float64"):
        check(data, sep=sep, decimal=decimal, header=False, schema=[kind, kind, "float64"], on_error="null")
