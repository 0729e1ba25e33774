"""The fuzzers' tables are those of the dialects as they are now."""

from __future__ import annotations

import runpy
from pathlib import Path

HERE = Path(__file__).parent


def test_tables_are_those_that_the_dialects_make() -> None:
    made = runpy.run_path(str(HERE / "dialects.py"))["text"]()
    assert made == (HERE / "dialects.inc").read_text(encoding="utf-8"), "run python tests/fuzz/dialects.py"


def test_each_corpus_has_a_target_and_lines_of_hexadecimal_digits() -> None:
    for corpus in (HERE / "corpus").glob("*.hex"):
        assert (HERE / f"fuzz_{corpus.stem}.cpp").exists()
        assert all(bytes.fromhex(line) for line in corpus.read_text(encoding="ascii").splitlines())
