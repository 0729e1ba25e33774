"""Examples of the documentation run, and one that fails is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import docs_run

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_examples_of_this_tree_run():
    assert [str(finding) for finding in docs_run.check(ROOT)] == []


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("import headrace\nheadrace.no_such_thing()", "no_such_thing"),
        ("this is no Python", "SyntaxError"),
        (">>> 1 + 1\n3", "Expected"),
        ("assert 1 == 2", "AssertionError"),
    ],
)
def test_failing_block_is_found(tmp_path, block, complaint):
    (tmp_path / "README.md").write_text(f"A page.\n\n```python\n{block}\n```\n")
    [finding] = docs_run.check_pages(tmp_path)
    assert finding.path == "README.md"
    assert complaint in finding.message


def test_failing_line_is_named(tmp_path):
    (tmp_path / "README.md").write_text("A page.\n\n```python\nx = 1\nassert x == 2\n```\n")
    [finding] = docs_run.check_pages(tmp_path)
    assert 'File "README.md", line 5' in finding.message


def test_page_in_docs_is_read(tmp_path):
    (tmp_path / "docs" / "decisions").mkdir(parents=True)
    (tmp_path / "docs" / "decisions" / "first.md").write_text("```python\n1 / 0\n```\n")
    assert [finding.path for finding in docs_run.check_pages(tmp_path)] == ["docs/decisions/first.md"]


def test_blocks_of_a_page_are_one_program_in_an_empty_folder(tmp_path):
    first = "from pathlib import Path\nassert not list(Path().iterdir())\nPath('a.csv').write_text('a\\n1\\n')"
    second = ">>> import headrace\n>>> headrace.read_csv('a.csv')['a'].to_pylist()\n[1]"
    (tmp_path / "README.md").write_text(f"```python\n{first}\n```\nthen\n```python\n{second}\n```\n")
    assert docs_run.check_pages(tmp_path) == []


@pytest.mark.parametrize("fence", ["```python no-run", "```sh", "```"])
def test_other_blocks_are_left_alone(tmp_path, fence):
    (tmp_path / "README.md").write_text(f"{fence}\n1 / 0\n```\n")
    assert docs_run.check_pages(tmp_path) == []


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n", None),
        ("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n", "the block prints:\n2"),
        ("```python\nprint(1 + 1)\n```\n\nA sentence.\n\n```text\n2\n```\n", "the block prints:\n2"),
        ("```python\nx = 1\n```\n\n```text\n1\n```\n", "the page shows:\n1"),
        ("```console\n$ echo one \\\n    two\none two\n$ true\n```\n", None),
        ("```console\n$ echo one\ntwo\n```\n", "the block prints:\none"),
        ("```console no-run\n$ echo one\ntwo\n```\n", None),
    ],
)
def test_output_is_compared(tmp_path, page, complaint):
    (tmp_path / "README.md").write_text(page)
    found = docs_run.check_pages(tmp_path)
    assert not found if complaint is None else complaint in found[0].message
