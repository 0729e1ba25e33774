"""The check of spread counts the files whose code names a model, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import spread

MODEL, LIMIT = "time64", spread.MAX_FILES["time64"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree in which as many files name the model as may."""
    package = tmp_path / "src/headrace"
    package.mkdir(parents=True)
    (package / "types.def").write_text(f"HR_TYPE({MODEL}, 64)\n")
    for number in range(LIMIT - 1):
        (package / f"module_{number}.py").write_text(f'TYPES = {{"{MODEL}": 64}}\n')
    return tmp_path


def test_the_limit_is_no_finding(tree: Path) -> None:
    assert spread.check(tree) == []


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.py", 'def f(kind):\n    """Return."""\n    return kind == "time64[us]"'),
        ("a.cpp", "case TypeId::time64:"),
        ("a.cuh", "#define KINDS X(time64)"),
    ],
)
def test_one_more_file_is_found(tree: Path, name: str, code: str) -> None:
    (tree / "src/headrace" / name).write_text(f"{code}\n")
    (finding,) = spread.check(tree)
    assert finding.message.startswith(f"{LIMIT + 1} files name {MODEL}, at most {LIMIT} may") and name in finding.message


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.py", '"""Reads time64."""\n\ndef f():\n    """Return a time64."""  # not a time64'),
        ("a.hpp", "int other;  // time64"),
        ("a.py", "datetime64 = 1"),
        ("a.cpp", '#include "rules/time64.hpp"'),
        (
            "a.py",
            "class Types:\n    # types, written by python -m checks.options\n    time64: int\n    # end of types\n    x: int",
        ),
    ],
)
def test_prose_and_other_words_do_not_count(tree: Path, name: str, code: str) -> None:
    (tree / "src/headrace" / name).write_text(f"{code}\n")
    assert spread.check(tree) == []


def test_files_of_the_writer_count_apart(tree: Path) -> None:
    model, limit = "escape_sequences", spread.MAX_FILES_OF_EXPORT["escape_sequences"]
    for folder, count in (("export", limit + 1), ("structure", spread.MAX_FILES[model])):
        (tree / "src/headrace" / folder).mkdir()
        for number in range(count):
            (tree / f"src/headrace/{folder}/m{number}.hpp").write_text(f"bool {model};\n")
    (finding,) = spread.check(tree)
    assert finding.message.startswith(f"{limit + 1} files name {model}, at most {limit} may: src/headrace/export/")
