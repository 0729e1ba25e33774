"""`dialect="auto"` reads spoiled texts as a careful person would: 99 % of them at least."""

import pytest

import headrace
from tests.api.sniff.spoiled_by_hand import BY_HAND
from tests.api.sniff.spoiled_short import SHORT
from tests.api.sniff.spoiled_spaces import SPACES
from tests.api.sniff.spoiled_texts import spoiled_texts

ALL = [*BY_HAND, *SHORT, *SPACES, *spoiled_texts()]
MIN_SHARE = 0.99


def difference(case):
    """The first way in which the reading differs from the expected one; None if it does not."""
    try:
        table = headrace.read_csv(case.text, dialect="auto", infer_schema=False)
        table.report.check()
    except headrace.HeadraceError as error:
        return f"{type(error).__name__}: {error}"
    found = table.report.sniffed
    columns, shape = list(table.to_pydict().values()), (table.num_rows, table.num_columns)
    pairs = [
        ("sep", case.sep or found.sep, found.sep),
        ("quote_char", found.quote_char if case.quote == "any" else case.quote, found.quote_char),
        ("escape_char", found.escape_char if case.escape == "any" else case.escape, found.escape_char),
        ("names", case.names or tuple(f"column_{i}" for i in range(1, case.width + 1)), tuple(table)),
        ("header", case.names is not None, bool(found.header)),
        ("rows", case.rows, table.num_rows),
        ("skip_rows", found.skip_rows if case.skipped is None else case.skipped, found.skip_rows),
        *((f"cell {at}", cell, columns[at[1]][at[0]]) for at, cell in case.cells.items() if shape == (case.rows, case.width)),
    ]
    return next((f"{what} is {seen!r}, not {wanted!r}" for what, wanted, seen in pairs if seen != wanted), None)


def test_there_are_two_hundred_different_texts():
    assert len({case.text for case in ALL}) >= 200
    assert len({case.name for case in ALL}) == len(ALL)


def test_99_of_100_are_read_as_a_careful_person_would():
    failures = {case.name: why for case in ALL if (why := difference(case)) is not None}
    assert len(failures) <= (1 - MIN_SHARE) * len(ALL), "\n".join(f"{name}: {why}" for name, why in failures.items())


@pytest.mark.parametrize("case", SPACES, ids=lambda case: case.name)
def test_spaces_in_values_and_names(case):
    assert difference(case) is None


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_proposal_reads_its_own_text(case):
    headrace.read_csv(case.text, **headrace.sniff_csv(case.text).options).report.check()
