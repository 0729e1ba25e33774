"""Tests loading on a GPU in dialects that only an automaton reads, under the fiber harness, against `read_csv` on the CPU."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

import headrace
from headrace.columns.load.gpu.load import GpuTuning
from headrace.columns.load.gpu.speculative import SpeculativeConversion
from tests.columns.load.load_gpu_cases import LARGER_SHAPE, read_on_fibers, same_table
from tests.columns.load.load_gpu_dialects_cases import DIALECTS, SHAPES, case, outcome

pytestmark = pytest.mark.fibers


def compare(data: bytes, options: dict[str, Any], shape: GpuTuning, seed: int) -> bool:
    """Compare the kernels' table with the CPU's, and return whether there is one."""
    expected, error = outcome(lambda: headrace.read_csv(data, **options))
    found, raised = outcome(lambda: read_on_fibers(data, skew=seed % 16, seed=seed, shape=shape, **options)[0])
    assert raised == error
    if found is None or expected is None:
        return False
    same_table(found, expected)
    assert found.rejects.to_pydict() == expected.rejects.to_pydict()
    return True


@pytest.mark.long_except("*-0", "{}-*")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", DIALECTS, ids=str)
def test_dialects(given: dict[str, Any], seed: int) -> None:
    compare(*case(seed, given), seed)


@pytest.mark.long_except("0")
@pytest.mark.parametrize("seed", range(12))
def test_long_runs_of_spaces_around_fields(seed: int) -> None:
    """Runs that end a field and runs inside fields cross the ends of tiles, and of the 64 bytes before them."""
    rng = random.Random(seed)

    def spaces(*counts: int) -> str:
        return " " * rng.choice(counts)

    def content() -> str:
        inside, quoted = f"x{spaces(1, 64, 200, 1200)}y", f'"q{spaces(3, 300)}"'
        return rng.choice(["", "1", "2024-01-31", '"q"', "z" * rng.choice([10, 300, 1100]), inside, quoted])

    rows = [[f"{spaces(0, 0, 2, 80)}{content()}{spaces(0, 0, 1, 63, 65, 130, 700)}" for _ in range(3)] for _ in range(25)]
    text = rng.choice(["\n", "\r\n"]).join(",".join(row) for row in rows) + rng.choice(["", " ", "\n"])
    options = {"strip": True, "header": False, "on_error": "null", "null_values": rng.choice([[""], ["", "1"], ()])}
    types = rng.choice([["string", "string", "string"], ["string", "int64", "date32"], None])
    compare(text.encode(), options | ({} if types is None else {"schema": types}), rng.choice(SHAPES), seed)


def test_launches_of_texts_with_lenient_quotes_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[SpeculativeConversion] = []
    replay = SpeculativeConversion.replay

    def counted(conversion: SpeculativeConversion, *args: Any) -> Any:
        replayed.append(conversion)
        return replay(conversion, *args)

    monkeypatch.setattr(SpeculativeConversion, "replay", counted)
    data = b"".join(b'%d,"text "%d"\n' % (row, row) for row in range(900))
    for _ in range(2):  # the first read finds that only the automaton reads the text
        assert compare(data, {"lenient_quotes": True, "on_error": "null", "header": False}, LARGER_SHAPE, 1)
    assert replayed


@pytest.mark.long_except("0")
@pytest.mark.parametrize("seed", range(8))
def test_lenient_quotes_far_from_the_next_ones(seed: int) -> None:
    """The quote that decides about one is in the same 64 bytes, in those of another lane or warp, or tiles later."""
    rng = random.Random(seed)
    forms = ['"{}"', '"{}', '{}"', '{}"z', '"{}"z']
    fields = [rng.choice(forms).format("x" * rng.choice([0, 5, 70, 1300, 2500])) for _ in range(60)]
    data = "".join(f"{number},{field}\n" for number, field in enumerate(fields)).encode()
    options = {"lenient_quotes": True, "header": False, "on_error": "null", "schema": ["int32", "string"]}
    shape = replace(LARGER_SHAPE, find=replace(LARGER_SHAPE.find, scan_threads=64))
    assert compare(data, options, shape, seed)
