"""Tests the command's messages: library messages in terms of flags, and texts that fit a line."""

from __future__ import annotations

import pytest

from headrace.cli.common import options
from headrace.cli.common.words import in_flags, shown


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("n_rows must be an integer", "--n-rows must be an integer"),
        ("sep must be 1 to 8 bytes long", "--sep must be 1 to 8 bytes long"),
        ("'sep' and sep, columns of a table", "'sep' and sep, columns of a table"),
        ("unknown column 'n_rows'", "unknown column 'n_rows'"),
        ("skip_rows_after_header and skip_rows", "--skip-rows-after-header and --skip-rows"),
        ("row_index_name='id' is a column", "--row-index='id' is a column"),
        ("with strip=True, pass union_by_name=True", "with --strip, pass --union-by-name"),
        ("infer_schema has no flag of its own", "infer_schema has no flag of its own"),
    ],
)
def test_options_are_told_as_flags(message: str, told: str) -> None:
    assert in_flags(message, options.flags()) == told


def test_long_texts_are_cut() -> None:
    assert shown("x" * 60) == repr("x" * 60)
    assert shown("x" * 61) == repr("x" * 60 + "...")
