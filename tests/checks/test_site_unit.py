"""The reference of the site has every public name once."""

from __future__ import annotations

import re
from pathlib import Path

import headrace

ROOT = Path(__file__).parents[2]


def test_reference_has_every_public_name():
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md"))]
    named = re.findall(r"^::: headrace\.(\w+)$", "\n".join(pages), re.MULTILINE)
    assert sorted(named) == sorted(set(headrace.__all__) - {"__version__"})
