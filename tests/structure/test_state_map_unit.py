"""State maps of byte ranges: a worked example, identity, errors, pickling, encodings, files."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from headrace import Context, Dialect, OptionError
from headrace.sources.open import SourceOptions, open_source
from headrace.structure import RangeStart, StateMap, range_starts, summarize
from headrace.structure.dialect import CSV

TEXT = b'1,"a\nb"\n2'
STATES = CSV.automaton.states


def after(found: StateMap, state: str) -> tuple[str, int]:
    """State and records after a range, by the name of the state before it."""
    number = STATES.index(state)
    return STATES[found.states[number]], found.records[number]


def test_worked_example():
    left, right = summarize(TEXT, CSV, range(5)), summarize(TEXT, CSV, range(5, 9))
    assert after(left, "START") == ("QUOTED", 0) and after(left, "QUOTED") == ("START", 1)
    assert after(right, "START") == ("UNQUOTED", 1) and after(right, "QUOTED") == ("UNQUOTED", 1)
    assert (left.lines, right.lines) == (1, 1)
    whole = left.then(right)
    assert whole == left @ right == summarize(TEXT, CSV) and right.then(left) != whole
    assert after(whole, "START") == ("UNQUOTED", 1) and whole.count_records() == 2


def test_starts_of_ranges():
    maps = [summarize(TEXT, CSV, range(at, at + 3)) for at in (0, 3, 6)]
    quoted = STATES.index("QUOTED")
    assert range_starts(maps) == [
        RangeStart(),
        RangeStart(quoted, 0, 0),
        RangeStart(quoted, 0, 1),
        RangeStart(STATES.index("UNQUOTED"), 1, 2),
    ]
    assert range_starts([]) == [RangeStart()]


def test_identity_is_that_of_an_empty_range():
    none = StateMap.identity(CSV)
    found = summarize(TEXT, CSV)
    assert none.then(found) == found == found.then(none)
    for empty in (range(0), range(4, 4), range(7, 3), range(100, 200)):
        assert summarize(TEXT, CSV, empty) == none
    assert summarize(b"", CSV) == none and none.count_records() == 0


@pytest.mark.parametrize(
    ("text", "dialect", "records", "lines"),
    [
        (b"a\r\nb\rc\n", CSV, 3, 3),
        (b"a\n\n\r\nb", CSV, 2, 3),
        (b"a\n\nb", Dialect(skip_blank_lines=False), 3, 2),
        (b"#x\na\n#y", Dialect(comment="#"), 1, 2),
        (b"a;b\n;c", Dialect(sep="|", lineterminator=";"), 3, 1),
        (b'"a;\\";b"\n', Dialect(escape_char="\\", sep=";"), 1, 1),
        (b'5" pipe\nb\n', CSV, 2, 2),
        (b'"never closed\nb\nc', Dialect(lenient_quotes=True), 3, 2),
    ],
)
def test_records_and_lines(text: bytes, dialect: Dialect, records: int, lines: int):
    found = summarize(text, dialect)
    assert (found.count_records(), found.lines) == (records, lines)


def test_a_line_end_of_two_bytes_counts_in_the_range_of_its_second():
    assert [summarize(b"a\r\nb", CSV, part).lines for part in (range(2), range(2, 4), range(4))] == [0, 1, 1]


def test_values_can_be_sent():
    found = summarize(TEXT, Dialect(comment="#", lenient_quotes=True), range(5))
    again = pickle.loads(pickle.dumps(found))
    assert again == found and hash(again) == hash(found) and again.then(again) == found.then(found)
    assert len(pickle.dumps(found)) < 1000


def test_files_and_byte_order_marks(tmp_path: Path):
    path = tmp_path / "text.csv"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT)
    assert summarize(path, CSV) == summarize(TEXT, CSV) == summarize(str(path), CSV, range(1 << 62))
    assert summarize(path, CSV, range(2)) == StateMap.identity(CSV)
    assert summarize(path, CSV, range(2, 8)) == summarize(TEXT, CSV, range(5))


def test_text_in_utf_16():
    text = "ä,'b\r\nc'\nd".encode("utf-16-le")
    dialect = Dialect(quote_char="'")
    with open_source(b"\xff\xfe" + text, SourceOptions()) as source:
        whole = summarize(source, dialect)
        for cut in range(len(text) + 3):
            assert summarize(source, dialect, range(cut)) @ summarize(source, dialect, range(cut, len(text) + 2)) == whole
    assert (whole.count_records(), whole.lines) == (2, 2)


def test_errors():
    found = summarize(TEXT, CSV)
    with pytest.raises(OptionError, match="another dialect"):
        found.then(summarize(TEXT, Dialect(sep=";")))
    with pytest.raises(OptionError, match="following"):
        found @ 5
    for wrong in (range(0, 9, 2), range(-1, 9), (0, 9), 5):
        with pytest.raises(OptionError, match="byte_range"):
            summarize(TEXT, CSV, wrong)
    with pytest.raises(OptionError, match="dialect"):
        summarize(TEXT, ",")
    with pytest.raises(OptionError, match="tile_bytes"):
        summarize(TEXT, CSV, tile_bytes=0)
    with pytest.raises(OptionError, match="context"):
        summarize(TEXT, CSV, context=4)
    with pytest.raises(FileNotFoundError):
        summarize("not_there.csv", CSV, context=Context(threads=1))
