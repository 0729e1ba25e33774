"""The check of options finds each way in which the table, the signature and the documentation can differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import options

TEXT = """\
TEXT_OPTIONS = (
    Option("sep", default=",", parse=text, help="separator", words=(option("delimiter"),), flags=(Flag("--sep"),)),
)
"""
WORK = """\
WORK_OPTIONS = (Option("n_rows", default=None, parse=count, help="rows", flags=(Flag("--n-rows"),)),)
"""
TYPES = """\
class CsvKeywords(TypedDict, total=False):
    # types of read_csv, written by python -m checks.options
    sep: str
    n_rows: int | None
    # end of types
"""
READ = '''\
def read_csv(source, *, sep: str = ",", n_rows: int | None = None, **aliases):
    """Read.

    Parameters
    ----------
    source
        Text.
    sep
        Separator.
    n_rows
        Rows.
    **aliases
        Other names.

    Returns
    -------
    Table
        The table.
    """
    given = CsvKeywords(sep=sep, n_rows=n_rows)
'''
FILES = {options.TABLES["text"]: TEXT, options.TABLES["work"]: WORK, options.TYPES: TYPES, options.READ: READ}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {**FILES, options.PAGE: "<!-- options -->\n<!-- end of options -->\n"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    page = tmp_path / options.PAGE
    page.write_text(options.with_table(page.read_text(), options.rows_of(tmp_path)))
    return tmp_path


def messages(tree: Path) -> list[str]:
    return [finding.message for finding in options.check(tree)]


def test_a_tree_in_agreement_has_no_findings(tree: Path) -> None:
    assert messages(tree) == []
    assert "| `sep` | `','` | separator | `--sep` | `delimiter` |" in (tree / options.PAGE).read_text()


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (options.READ, 'sep: str = ","', 'sep: str = ";"', "sep: the default is ';', but ','"),
        (options.READ, "sep: str", "sep: bytes", "sep: the type is another one"),
        (options.TYPES, "    n_rows: int | None\n", "", "n_rows: the type is another one"),
        (options.READ, "sep=sep, ", "", "sep: read_csv does not pass it on"),
        (options.READ, "sep=sep", 'sep=sep or ","', "sep: read_csv does not pass it on"),
        (options.READ, "    n_rows\n        Rows.\n", "", "the docstring and the parameters differ in n_rows"),
        (options.READ, "    n_rows\n", "    n_rows, rows\n", "the docstring and the parameters differ in n_rows"),
        (options.READ, "**aliases):", "more=1, **aliases):", "more: has no row"),
        (options.TABLES["work"], '"n_rows", default', '"rows", default', "read_csv has no parameter rows"),
        (options.TABLES["text"], '"delimiter"', '"n_rows"', "n_rows occurs twice"),
        (options.TABLES["work"], '"--n-rows"', '"--sep"', "--sep occurs twice"),
        (options.TABLES["text"], '"separator"', '"delimiter"', "the table of options is out of date"),
        (options.PAGE, "<!-- options -->", "", "has no table of options between its markers"),
    ],
)
def test_a_difference_is_found(tree: Path, name: str, old: str, new: str, message: str) -> None:
    path = tree / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    assert any(message in found for found in messages(tree)), messages(tree)


def test_types_are_written_from_the_signature(tree: Path) -> None:
    types = tree / options.TYPES
    stale = types.read_text().replace("    sep: str\n", "    gone: str\n")
    assert options.with_types(stale, tree) == types.read_text()
