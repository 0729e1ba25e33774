"""Tests timestamps to the minute, alone and among others, against Python's datetime, on each instruction set."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from headrace import Context, read_csv
from tests.isas import EACH_ISA

pytestmark = pytest.mark.isas
FORMS = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]
WRONG = ["2021-02-29 10:00", "2021-01-01 24:00", "2021-01-01 10:60", "2021-01-01-10:00", "2021-01-01 10;00", "2021-01-01 1:000"]


@pytest.mark.parametrize("isa", EACH_ISA)
@pytest.mark.parametrize("forms", [FORMS[:1], FORMS[:2], FORMS], ids=["one form", "two forms", "all forms"])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("wrong", [[], WRONG], ids=["valid", "some wrong"])
def test_timestamps(isa: str, forms: list[str], unit: str, wrong: list[str]) -> None:
    rng = random.Random(len(forms))
    if unit == "s":
        forms = forms[:3]
    fields: list[str] = []
    expected: list[datetime | None] = []
    for _ in range(1000):
        moment = datetime(1970, 1, 1) + timedelta(seconds=rng.randrange(-(10**9), 10**9))
        form = rng.choice(forms)
        is_wrong = bool(wrong) and rng.random() < 0.1
        field = rng.choice(wrong) if is_wrong else moment.strftime(form)
        if unit == "ms":
            field = field.replace(".000000", ".000")
        fields.append(field)
        expected.append(None if is_wrong else moment.replace(second=0) if "%S" not in form else moment)
    text = "t\n" + "".join(field + "\n" for field in fields)
    options = {"dtypes": {"t": f"timestamp[{unit}]"}, "on_error": "null"}
    column = read_csv(text.encode(), header=True, context=Context(isa=isa), **options)["t"]
    assert column.to_pylist() == expected


@pytest.mark.parametrize("isa", EACH_ISA)
def test_inferred(isa: str) -> None:
    text = b"t,n\n" + b'2021-03-04 05:06,1\n"2021-03-04 05:07",2\n' * 100
    column = read_csv(text, context=Context(isa=isa))["t"]
    assert str(column.type) == "timestamp[us]"
    assert column.to_pylist() == [datetime(2021, 3, 4, 5, 6), datetime(2021, 3, 4, 5, 7)] * 100
