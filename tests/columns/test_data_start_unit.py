"""Tests the count of what precedes the data of a text."""

from __future__ import annotations

import pytest

from headrace import Dialect, _native
from headrace.columns.plan.native_dialect import native_dialect
from headrace.sources.open import open_source

TEXT = b"#c\nname\n#d\n\n#e\na,b\n1,2\n"


@pytest.mark.parametrize("isa", _native.isas())
def test_comments_blank_lines_and_records_before_the_data(isa: str) -> None:
    dialect, data = native_dialect(Dialect(comment="#")), TEXT.index(b"1,2")
    with open_source(TEXT) as source:
        begin, records, blank, comments = _native.find_data(source.native, dialect, isa, 0, data, len(TEXT))
    assert (begin, records, blank, comments) == (data, 2, 1, 3)
