"""Each script of examples/ prints what examples/output/ has."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_prints_its_output(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed == (EXAMPLES / "output" / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_readme_lists_every_script():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.py)" in page for name in SCRIPTS)
    assert len(SCRIPTS) >= 10
