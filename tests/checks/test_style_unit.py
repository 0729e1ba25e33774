"""Tests that the checks of folders, names and prose find made-up violations in their places, and accept allowed code."""

from __future__ import annotations

import json

import pytest

from checks import architecture, folders, names, prose, ratchet
from checks.sentences import sentences

PACKAGE = "src/headrace"


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def lines_of(rule, root):
    return [(finding.path, finding.line) for finding in rule(root)]


def test_an_import_against_the_order_of_folders_is_found(write, tmp_path):
    write(f"{PACKAGE}/columns/load/load.hpp", "")
    write(f"{PACKAGE}/columns/rules/digits.hpp", '\n#include "columns/load/load.hpp"\n')
    write(f"{PACKAGE}/columns/load/bindings.cpp", '#include "columns/load/load.hpp"\n')
    found = [finding for finding in folders.check(tmp_path) if finding.path != "checks/folders.py"]
    assert [(finding.path, finding.line) for finding in found] == [(f"{PACKAGE}/columns/rules/digits.hpp", 2)]


def test_an_import_along_the_order_is_allowed(write, tmp_path):
    write(f"{PACKAGE}/columns/rules/digits.hpp", "")
    write(f"{PACKAGE}/columns/load/load.hpp", '#include "columns/rules/digits.hpp"\n')
    write(f"{PACKAGE}/columns/load/load.py", "import headrace.core.errors\n")
    write(f"{PACKAGE}/columns/rules/__init__.py", "")
    assert [finding for finding in folders.check(tmp_path) if finding.path != "checks/folders.py"] == []


def test_a_folder_and_its_subfolder_that_import_each_other_are_found(write, tmp_path):
    write(f"{PACKAGE}/export/text/rows.hpp", "")
    write(f"{PACKAGE}/export/text/quotes/quote.hpp", "")
    write(f"{PACKAGE}/export/text/lines.hpp", '#include "export/text/quotes/quote.hpp"\n')
    assert folders.check(tmp_path) == []
    write(f"{PACKAGE}/export/text/quotes/escape.hpp", '#include "export/text/rows.hpp"\n')
    assert lines_of(folders.check, tmp_path) == [(f"{PACKAGE}/export/text", 0)]


def test_an_exception_that_is_not_needed_is_found(write, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "EXCEPTIONS", frozenset({("columns/rules/digits.hpp", "columns/load/load.hpp")}))
    write(f"{PACKAGE}/columns/rules/digits.hpp", "")
    assert [finding.path for finding in folders.check(tmp_path)] == ["checks/folders.py"]


@pytest.mark.parametrize(("count", "found"), [(20, 0), (21, 1)])
def test_a_folder_has_at_most_20_files(write, tmp_path, count, found):
    for number in range(count):
        write(f"{PACKAGE}/store/part_{number}.py", "")
    write(f"{PACKAGE}/store/__init__.py", "")
    assert len(folders.check(tmp_path)) == found


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (prose.long_sentences, f"{PACKAGE}/a.py", f'\n"""{"word " * 26}."""\n'),
        (prose.long_sentences, f"{PACKAGE}/a.hpp", f"\n// {'word ' * 13}\n// {'word ' * 13}\nint x;\n"),
        (prose.long_sentences, "docs/a.md", f"\n{'word ' * 13}\n{'word ' * 13}\n"),
        (prose.banned_words, f"{PACKAGE}/a.py", "\nx = 1  # the row behind it\n"),
        (prose.banned_words, f"{PACKAGE}/a.cu", "\n// what nobody reads\nint x;\n"),
        (prose.docstring_openers, f"{PACKAGE}/a.py", '\n"""What kernels get."""\n'),
        (prose.wide_lines, "README.md", f"\n{'x' * 101}\n"),
        (names.private_idiom, f"{PACKAGE}/a.py", "\nmost_rows = 3\n"),
        (names.private_idiom, f"{PACKAGE}/a.hpp", "\nint own_tiles = 3;\n"),
        (names.mixed_tuples, f"{PACKAGE}/a.py", "\ndef f(x: tuple[int, str]) -> None: ...\n"),
    ],
)
def test_a_violation_is_found(write, tmp_path, rule, name, text):
    write(name, text)
    assert lines_of(rule, tmp_path) == [(name, 2)]


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (prose.long_sentences, f"{PACKAGE}/a.py", f'"""{"word " * 20}.\n\n{"word " * 20}."""\n'),
        (prose.long_sentences, f"{PACKAGE}/a.py", f'"""Do.\n\nExamples\n--------\n>>> f()\n{"word " * 30}\n"""\n'),
        (prose.long_sentences, "docs/a.md", f"```\n{'word ' * 30}\n```\n| {'word ' * 30} |\n"),
        (prose.banned_words, f"{PACKAGE}/a.py", 'x = "nobody"\n'),
        (prose.docstring_openers, f"{PACKAGE}/a.py", '"""Return the offset."""\n'),
        (prose.wide_lines, "README.md", f"| {'x' * 101} |\n"),
        (names.private_idiom, f"{PACKAGE}/a.py", 'x = "max_rows"  # max_rows\n'),
        (names.private_idiom, f"{PACKAGE}/a.hpp", "int x;  // own_tiles\n"),
        (names.mixed_tuples, f"{PACKAGE}/a.py", "def f(x: tuple[int, int], y: tuple[str, ...]) -> None: ...\n"),
    ],
)
def test_what_is_allowed_is_left_alone(write, tmp_path, rule, name, text):
    write(name, text)
    assert lines_of(rule, tmp_path) == []


def test_a_type_name_is_defined_once_in_a_language(write, tmp_path):
    write(f"{PACKAGE}/a.py", "class Plan: ...\n")
    write(f"{PACKAGE}/a.hpp", "struct Plan { int x; };\n")
    assert lines_of(names.repeated_types, tmp_path) == []
    write(f"{PACKAGE}/b.py", "\nclass Plan: ...\n")
    assert lines_of(names.repeated_types, tmp_path) == [(f"{PACKAGE}/a.py", 1), (f"{PACKAGE}/b.py", 2)]


def test_sentences_end_at_full_stops_and_not_at_abbreviations(write):
    path = write("a.md", "Reads tiles, e.g. Ten of them. Writes\nthem. It takes 3.5 ms.\n\n- An item\n- another\n")
    assert [sentence.text for sentence in sentences(path)] == [
        "Reads tiles, e.g. Ten of them.",
        "Writes them.",
        "It takes 3.5 ms.",
        "An item",
        "another",
    ]


def test_a_ratchet_lets_counts_fall_and_not_rise(write, tmp_path):
    write(ratchet.FILE, json.dumps({"banned words": 1}))
    rule = ratchet.Rule("banned words", prose.banned_words)
    write("a.md", "Rows behind it.\n")
    assert ratchet.check_rules(tmp_path, (rule,)) == []
    write("b.md", "Rows behind it.\n")
    assert [finding.path for finding in ratchet.check_rules(tmp_path, (rule,))] == [ratchet.FILE, "b.md"]
    write("a.md", "Rows after it.\n")
    write("b.md", "Rows after it.\n")
    assert ratchet.lower_limits(tmp_path, (rule,)) == {"banned words": (0, 1)}
    assert ratchet.read_limits(tmp_path) == {"banned words": 0}


def test_a_docstring_that_is_too_long_for_the_list_of_folders_is_found(write, tmp_path):
    write(f"{PACKAGE}/core/__init__.py", f'"""{"x" * 78}"""\n')
    listed = "\n```\n" + architecture.folder_list(tmp_path) + "\n```\n"
    write("ARCHITECTURE.md", architecture.BEGIN + listed + architecture.END)
    assert len(architecture.check(tmp_path)) == 1
    write(f"{PACKAGE}/core/__init__.py", f'"""{"x" * 77}"""\n')
    architecture.write(tmp_path)
    assert architecture.check(tmp_path) == []
