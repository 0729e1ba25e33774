"""Type checkers accept the README, the guide and a user's program, in their strict mode."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import headrace

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/coming-from.md",
    *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs" / "guide").glob("*.md"))),
)
BLOCK = re.compile(r"^```python[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTINGS = """\
[mypy]
strict = True
[mypy-headrace.*]
follow_imports = silent
[mypy-pyarrow.*,pandas.*,cupy.*,torch.*]
ignore_missing_imports = True
[mypy-coming_from_page]
disable_error_code = attr-defined
"""
"""The page on other readers uses aliases, such as `height`, which a type checker does not know."""


@pytest.mark.long
def test_strict_type_checks(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    programs = [Path(__file__).parent / "user_program.py"]
    for page in PAGES:
        program = tmp_path / f"{Path(page).stem.replace('-', '_').lower()}_page.py"
        program.write_text("\n".join(BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))), encoding="utf-8")
        programs.append(program)
    (tmp_path / "mypy.ini").write_text(SETTINGS)
    package = Path(headrace.__file__).parents[1]
    source_tree = {} if package.name == "site-packages" else {"MYPYPATH": str(package)}
    command = [sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini"), "--cache-dir", str(tmp_path / "cache")]
    environment = {"PATH": "", **source_tree}
    ended = subprocess.run([*command, *map(str, programs)], capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_package_shows_public_names_only() -> None:
    shown = {name for name in dir(headrace) if not name.startswith("__")}
    assert shown == set(headrace.__all__) - {"__version__"}
    assert all(getattr(headrace, name) is not None for name in headrace.__all__)


def test_options_are_visible_to_an_editor() -> None:
    program = "import inspect, headrace; print(*inspect.signature(headrace.scan_csv).parameters)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"sep", "null_values", "batch_bytes"} <= set(ended.stdout.split())


@pytest.mark.parametrize("name", ["array_api.unique_counts", "buckets.identity", "structure.summarize"])
def test_public_modules_need_no_import_of_their_own(name: str) -> None:
    subprocess.run([sys.executable, "-c", f"import headrace; headrace.{name}"], check=True)
