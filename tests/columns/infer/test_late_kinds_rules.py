"""Texts after the inspected part of a source that a fast form accepts, although they are of another kind than the column."""

from __future__ import annotations

import pytest

from headrace import Context, _native, read_csv

pytestmark = pytest.mark.isas

SAMPLE_BYTES = 256 << 10
"""Size of the part of a text that is inspected before the conversion."""


@pytest.mark.parametrize("isa", _native.isas())
@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("0x12", "12"),
        ("1 day 02:00:00", "12:30:00"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00"),
        ("2020-01-01T00:00:00+01:00", "2020-01-01 00:00:00"),
    ],
)
def test_a_late_text_of_another_kind_makes_the_column_text(first: str, last: str, isa: str) -> None:
    texts = [first] * (2 * SAMPLE_BYTES // len(first)) + [last] * 9
    table = read_csv("\n".join(["a", *texts, ""]).encode(), context=Context(isa=isa))
    assert (str(table["a"].type), table.report.passes) == ("string", 2)
    assert table["a"].to_pylist() == texts
