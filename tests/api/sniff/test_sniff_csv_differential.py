"""Tests tables that Python's csv module writes in any of its dialects, read back without options."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace
from tests.examples import examples

PIECES = ["plain", "two words", "O'Brien", "Zoë", "100 m", "a.b", "x-y", ""]
ODD = [",", ";", "|", "\t", '"', "'", "\n", "\\", '"quoted"', "a,b", "#1"]


@st.composite
def written_tables(draw):
    """(rows, text, options of the writer)."""
    quote = draw(st.sampled_from(['"', '"', "'"]))
    double = draw(st.booleans())
    options = {
        "delimiter": draw(st.sampled_from([",", ";", "\t", "|"])),
        "quotechar": quote,
        "doublequote": double,
        "escapechar": None if double else "\\",
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
    }
    if not double and quote == "'":
        options["quoting"] = csv.QUOTE_ALL  # the quote of O\\'Brien has no other sign
    # Dialects differ only in a backslash in a text that has no escape character, or in a single quote as the sign for quoting.
    # Without either in the text there is nothing to find, and the default is as good.
    text = st.sampled_from(PIECES) | st.tuples(st.sampled_from(PIECES), st.sampled_from(ODD), st.sampled_from(PIECES)).map(
        "".join
    )
    if not double:
        text = text.filter(lambda cell: "\\" not in cell and "\n" not in cell)
    columns = draw(
        st.lists(st.sampled_from(["int", "float", "date", "text"]), min_size=2, max_size=6).filter(lambda c: set(c) != {"text"})
    )
    cells = {
        "int": st.integers(-1000, 100_000).map(str),
        "float": st.floats(-1e6, 1e6).map(lambda value: f"{value:.2f}"),
        "date": st.dates().map(str),
        "text": text,
    }
    rows = draw(st.lists(st.tuples(*(cells[kind] for kind in columns)), min_size=4, max_size=25))
    header = [f"{kind}_{place}" for place, kind in enumerate(columns)]
    stream = io.StringIO()
    csv.writer(stream, **options).writerows([header, *rows])
    return [header, *map(list, rows)], stream.getvalue().encode(), options


@settings(max_examples=examples(300), deadline=None)
@given(written_tables())
def test_cells_come_back(made):
    rows, text, options = made
    table = headrace.read_csv(text, dialect="auto", infer_schema=False, null_values=())
    table.report.check()
    found = [list(table), *map(list, zip(*table.to_pydict().values(), strict=True))]
    assert found == rows, str(table.report.sniffed)
    assert table.report.sniffed.sep == options["delimiter"]


@settings(max_examples=examples(100), deadline=None)
@given(written_tables(), st.lists(st.sampled_from(["Report of May", "by hand", "# not data"]), min_size=1, max_size=3))
def test_lines_in_front_are_found_and_counted(made, lines):
    rows, text, _ = made
    table = headrace.read_csv("\n".join([*lines, ""]).encode() + text, dialect="auto", infer_schema=False, null_values=())
    table.report.check()
    assert list(table) == rows[0]
    skipped = table.report.skipped
    assert (skipped.preamble + skipped.comment, table.num_rows) == (len(lines), len(rows) - 1)


@pytest.mark.parametrize("sample_bytes", [200, 1000, 5000])
@settings(max_examples=30, deadline=None)
@given(written_tables())
def test_samples_of_any_size_agree_on_the_separator(sample_bytes, made):
    _, text, options = made
    header, body = text.split(options["lineterminator"].encode(), 1)
    long = header + options["lineterminator"].encode() + body * 20
    assert headrace.sniff_csv(long, sample_bytes=max(sample_bytes, len(text))).sep == options["delimiter"]
