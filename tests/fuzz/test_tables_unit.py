"""Tests that the fuzzers' tables are those of the present dialects and date formats."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["dialects", "formats"])
def test_tables_are_those_that_the_package_makes(name: str) -> None:
    made = runpy.run_path(str(HERE / f"{name}.py"))["text"]()
    assert made == (HERE / f"{name}.inc").read_text(encoding="utf-8"), f"run python tests/fuzz/{name}.py"


def test_each_corpus_has_a_target_and_lines_of_hexadecimal_digits() -> None:
    for corpus in (HERE / "corpus").glob("*.hex"):
        assert (HERE / f"fuzz_{corpus.stem}.cpp").exists()
        assert all(bytes.fromhex(line) for line in corpus.read_text(encoding="ascii").splitlines())
