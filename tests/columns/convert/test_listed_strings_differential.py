"""Texts of many columns of strings, whose fields are listed, under the fiber harness, against the CPU."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

import headrace
from headrace.columns.convert.gpu.target import GpuTuning
from headrace.columns.load.gpu import setup_cache
from headrace.core.identity_cache import IdentityCache
from headrace.gpu.kernels.launcher import Entry, Shape
from headrace.testing.fibers.launcher import FiberLauncher
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, SHAPE, check

pytestmark = pytest.mark.fibers

_WORDS = ["", "", "a", "word", "é", "漢字", "a longer text", "y" * 16, "x" * 61, "z" * 300]


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the launched kernels that convert columns."""
    names: list[str] = []
    launch = FiberLauncher.launch

    def recorded(self: FiberLauncher, entry: Entry, shape: Shape, args: Sequence[Any]) -> None:
        if entry.name in ("convert_listed", "convert_tiles", "convert_rows"):
            names.append(entry.name)
        launch(self, entry, shape, args)

    monkeypatch.setattr(FiberLauncher, "launch", recorded)
    monkeypatch.setattr(setup_cache, "known_setups", IdentityCache())  # fields of a plan's later texts may not be listed
    return names


def _text(seed: object, rows: int, columns: int, words: Sequence[str] = _WORDS) -> bytes:
    rng = random.Random(repr(seed))
    return "".join(",".join(rng.choices(words, k=columns)) + "\n" for _ in range(rows)).encode()


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("shape", [SHAPE, LARGER_SHAPE])
@pytest.mark.parametrize("columns", [17, 60, 130])
@pytest.mark.parametrize("skew", [0, 5])
@pytest.mark.parametrize("rows", [1, 63, 64, 65, 150])
def test_many_columns_of_strings(rows: int, columns: int, skew: int, shape: GpuTuning, kernels: list[str]) -> None:
    data = _text((rows, columns, skew), rows, columns)
    for text in (data, data[:-1])[: min(rows, 2)]:  # without a line end there is no estimate
        check(text, header=False, schema=["string"] * columns, skew=skew, shape=shape)
    assert set(kernels) == {"convert_listed"}


@pytest.mark.parametrize("rows", [3, 64, 130])
@pytest.mark.parametrize("skew", [0, 3])
def test_short_strings(rows: int, skew: int, kernels: list[str]) -> None:
    """Strings of up to eight bytes are copied by words, but not those of a column with a longer one."""
    words = ["", "1", "No", "Yes", "five5", "éé", "7 bytes", "8 bytes."]
    for longest in ([], ["nine byte"]):
        data = _text((rows, skew), rows, 33, words + longest)
        check(data, header=False, schema=["string"] * 33, skew=skew, shape=LARGER_SHAPE)
    assert set(kernels) == {"convert_listed"}


@pytest.mark.parametrize(
    "options", [{"dtypes": {"c3": "large_string"}}, {"columns": ["c19", "c2", "c7", *(f"c{i}" for i in range(20, 40))]}, {}]
)
@pytest.mark.parametrize("null_values", [[""], [], ["bc", "a"], ["", "NA", "a longer text", "y" * 31]])
def test_some_columns_and_other_offsets(options: dict[str, Any], null_values: list[str], kernels: list[str]) -> None:
    names = ",".join(f"c{number}" for number in range(40)) + "\n"
    check(
        names.encode() + _text(0, 90, 40, ["a", "bc", "", "d e f", "NA", "a longer text", "a longer test", "y" * 31]),
        null_values=null_values,
        shape=LARGER_SHAPE,
        **options,
    )
    assert set(kernels) == {"convert_listed"}


@pytest.mark.covering(default=1, long=2)
@pytest.mark.parametrize("place", [0, 0.5, 1])
@pytest.mark.parametrize("odd", ["short", "long", "blank", "return", "invalid", "wide"])
def test_what_cannot_be_listed(odd: str, place: float, kernels: list[str]) -> None:
    """Records of another width, blank lines, carriage returns, invalid UTF-8, and a record of more than 64 KB."""
    lines = _text(0, 40, 30).splitlines()
    record = {
        "short": b"a,b",
        "long": b"a," * 30,
        "blank": b"",
        "return": b"x" + b"," * 29 + b"\r",
        "invalid": b"\xff" + b"," * 29,
        "wide": b"x" * 65_541 + b"," * 29,
    }[odd]
    lines.insert(int(place * len(lines)), record)
    options = {"header": False, "schema": ["string"] * 30, "on_error": "null", "shape": LARGER_SHAPE}
    check(b"\n".join(lines) + b"\n", **options)
    assert kernels[0] == "convert_listed" or (odd, place) == ("wide", 0)  # no sizes are estimated from half a record
    assert "convert_tiles" in kernels


def test_fields_are_not_listed_under_a_memory_limit(kernels: list[str]) -> None:
    context = headrace.Context(memory_limit=10_000_000)
    check(_text(2, 40, 30), header=False, schema=["string"] * 30, context=context)
    assert set(kernels) == {"convert_tiles"}


def test_later_texts_of_a_plan_are_not_listed_in_vain(kernels: list[str]) -> None:
    lines = _text(1, 40, 30, ["a", "b"]).splitlines()
    for _ in range(3):
        check(b"\n".join([*lines, b"a,b"]) + b"\n", header=False, schema=["string"] * 30, on_error="null")
    assert kernels.count("convert_listed") == 1
