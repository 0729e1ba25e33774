"""Each error class and each kind of fault has a section with an example that raises it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import error_pages

ROOT = Path(__file__).parents[2]
PAGE = "## `A`\n```text\nA: wrong\n```\n## `B`\n```text\nB: wrong\n```\n"


@pytest.fixture
def tree(tmp_path):
    for path, text in {
        error_pages.ERRORS: "class A(Exception): ...\nclass B(A): ...\n",
        error_pages.KINDS: 'FAULT_KINDS = ("type",)\n',
        error_pages.ERRORS_PAGE: PAGE,
        error_pages.KINDS_PAGE: "## `type`\n```text\ntype\n```\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_pages_of_this_tree_are_complete():
    assert error_pages.check(ROOT) == []


def test_complete_pages_have_no_finding(tree):
    assert error_pages.check(tree) == []


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        (PAGE.partition("## `B`")[0], "has no section ## `B`"),
        (PAGE.replace("B: wrong", "A: wrong"), "the example of B does not print its name"),
        (PAGE + "## `C`\n```text\nC: wrong\n```\n", "C does not exist"),
    ],
)
def test_other_pages_have_one(tree, page, complaint):
    (tree / error_pages.ERRORS_PAGE).write_text(page)
    assert [finding.message for finding in error_pages.check(tree)] == [complaint]
