"""The rules of a dialect, one test each, over many dialects and texts."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from headrace.structure.automaton import Automaton, Emit, compose
from headrace.structure.dialect import CSV, Dialect
from headrace.testing.oracle import (
    OracleStructure,
    field_text,
    reference_state_scan,
    split,
    split_by_automaton,
)
from headrace.testing.strategies import WellFormed, dialects, texts, well_formed_tables
from tests.examples import examples

pytestmark = pytest.mark.pure

many = settings(max_examples=examples(150), derandomize=True, deadline=None)

dialect_and_text = dialects().flatmap(lambda dialect: st.tuples(st.just(dialect), texts(dialect)))


def steps(automaton: Automaton) -> list[tuple[int, int, int, int]]:
    """(group, state, next state, emit) of every cell of the table."""
    return [
        (group, state, automaton.next[group][state], automaton.emit[group][state])
        for group in range(len(automaton.groups))
        for state in range(len(automaton.states))
    ]


def is_trivial(structure: OracleStructure) -> bool:
    """True for less than two fields, and nothing else worth a comparison."""
    records = structure.records
    eventful = structure.blank_lines or any(r.comment or r.strays or r.unclosed for r in records)
    return not eventful and sum(len(r.fields) for r in records) < 2


@settings(many, max_examples=examples(1000))
@given(dialect_and_text)
def test_the_table_means_what_the_rules_say(case: tuple[Dialect, bytes]) -> None:
    dialect, data = case
    structure = split(data, dialect)
    assume(not is_trivial(structure))
    assert split_by_automaton(data, dialect.automaton) == structure


@many
@given(dialects().flatmap(lambda d: st.tuples(st.just(d), well_formed_tables(d))))
def test_what_was_written_is_read_back(case: tuple[Dialect, WellFormed]) -> None:
    dialect, table = case
    records = split(table.data, dialect).records
    got = [[field_text(table.data, *span, dialect)[0] for span in r.fields] for r in records]
    assert got == table.rows
    assert not any(r.comment or r.strays or r.unclosed for r in records)


@many
@given(well_formed_tables(CSV))
def test_well_formed_csv_reads_as_in_the_standard_library(table: WellFormed) -> None:
    text = table.data.decode("latin-1")
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    assert [[cell.encode("latin-1") for cell in row] for row in expected] == table.rows


@many
@given(dialects())
def test_ordinary_bytes_settle_at_once(dialect: Dialect) -> None:
    """A run of ordinary bytes may be skipped after its first: the second byte changes no state and emits nothing."""
    other_next, other_emit = dialect.automaton.next[-1], dialect.automaton.emit[-1]
    assert compose(other_next, other_next) == other_next
    assert all(other_emit[state] == 0 for state in other_next)


@many
@given(dialects())
def test_tables_are_well_formed(dialect: Dialect) -> None:
    table = dialect.automaton
    size = len(table.states)
    assert size == len(set(table.states)) <= 64
    assert table.states[0] == "START"
    assert len(table.class_of) == 256
    assert set(table.class_of) == set(range(len(table.groups)))
    assert len(set(table.groups)) == len(table.groups) == len(table.next) == len(table.emit)
    assert table.groups[-1] == "other"
    assert all(len(row) == size for row in (*table.next, *table.emit))
    assert all(target < size for row in table.next for target in row)
    assert all(name.isprintable() and " " not in name for name in (*table.states, *table.groups))
    assert table.comment.isdisjoint(table.quoted | table.idle)


def test_the_largest_dialect_has_few_enough_states() -> None:
    dialect = Dialect(sep="abcdefgh", lineterminator="ijklmnop", comment="qrstuvwx", escape_char="\\", skip_initial_space=True)
    assert len(dialect.automaton.states) == 57


@many
@given(dialects())
def test_a_record_is_open_from_open_to_rec(dialect: Dialect) -> None:
    """OPEN on every way out of an idle state, and on a record of no bytes. The end of a record or a blank line leads back."""
    table = dialect.automaton
    for _, state, target, emit in steps(table):
        swallowed_lf = table.states[state] == "CR" and target == 0 and emit == 0
        closes = bool(emit & (Emit.RECORD | Emit.BLANK)) or swallowed_lf
        assert (target in table.idle) == closes
        if state in table.idle:
            assert bool(emit & Emit.OPEN) == (target not in table.idle or bool(emit & Emit.RECORD))
        else:
            assert not emit & Emit.OPEN


@many
@given(dialects())
def test_emits_that_exclude_each_other(dialect: Dialect) -> None:
    for _, state, target, emit in steps(dialect.automaton):
        assert not (emit & Emit.RECORD and emit & Emit.FIELD)
        assert not (emit & Emit.BLANK and emit & (Emit.OPEN | Emit.STRAY | Emit.COMMENT))
        assert not emit & Emit.BLANK or bool(emit & Emit.RECORD) == (state not in dialect.automaton.idle)
        assert not emit & Emit.COMMENT or (emit == Emit.RECORD | Emit.COMMENT and state in dialect.automaton.comment)
        if state in dialect.automaton.comment:
            assert target in dialect.automaton.comment | dialect.automaton.idle


@many
@given(dialects().filter(lambda d: d.quote_char is not None))
def test_a_quote_opens_a_field_at_its_start_alone(dialect: Dialect) -> None:
    """Elsewhere outside of quotes a quote is text, but where it doubles a closing one; inside of them it closes."""
    table = dialect.automaton
    quote = table.next[table.class_of[(dialect.quote_char or b"")[0]]]
    opening = {"START", "CR", "FIELD_START"} | ({"QUOTE_END"} if dialect.double_quote else set())
    for state in set(range(len(table.states))) - table.comment - table.quoted:
        assert (quote[state] in table.quoted) == (table.states[state] in opening)
    assert all(quote[s] not in table.quoted for s in table.quoted if table.states[s] != "ESC_Q")


@many
@given(dialects().filter(lambda d: d.escape_char is not None), st.binary(min_size=1, max_size=1))
def test_the_byte_after_an_escape_is_data(dialect: Dialect, byte: bytes) -> None:
    table = dialect.automaton
    escape = dialect.escape_char or b""
    unquoted = table.states.index("UNQUOTED")
    assert table.step(table.run(unquoted, escape), byte[0]) == (unquoted, 0)
    for quoted in (s for s in table.quoted if table.states[s] == "QUOTED"):
        assert table.step(table.run(quoted, escape), byte[0]) == (quoted, 0)


@many
@given(dialects())
def test_the_end_of_a_line_in_quotes_is_data(dialect: Dialect) -> None:
    table = dialect.automaton
    for line_end in dialect.line_ends:
        assert all(table.run(s, line_end) == s for s in table.quoted if table.states[s] == "QUOTED")


@many
@given(dialects(), st.booleans())
def test_blank_lines_are_skipped_or_records(dialect: Dialect, after_a_record: bool) -> None:
    data = (b"x" if after_a_record else b"") + dialect.line_ends[0] * (3 + after_a_record)
    structure = split_by_automaton(data, dialect.automaton)
    assert structure == split(data, dialect)
    if dialect.skip_blank_lines:
        assert (structure.blank_lines, len(structure.records)) == (3, int(after_a_record))
    else:
        assert (structure.blank_lines, len(structure.records)) == (0, 3 + after_a_record)
        assert all(r.fields == [(r.start, r.start)] for r in structure.records[after_a_record:])


@many
@given(dialects().filter(lambda d: d.lineterminator is None), st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), max_size=9))
def test_universal_line_ends_count_crlf_once(dialect: Dialect, ends: list[bytes]) -> None:
    data = b"".join(b"x" + end for end in ends)
    assert len(split_by_automaton(data, dialect.automaton).records) == len(ends)


@many
@given(dialect_and_text)
def test_every_byte_belongs_to_one_record_or_line_end(case: tuple[Dialect, bytes]) -> None:
    """Fields tile their record, separators between them; between records lie only line ends."""
    dialect, data = case
    previous = 0
    for record in split_by_automaton(data, dialect.automaton).records:
        assert set(data[previous : record.start]) <= set(dialect.lineterminator or b"\r\n")
        starts = [record.start, *(end + len(dialect.sep) for _, end in record.fields[:-1])]
        assert [start for start, _ in record.fields] == starts
        assert all(data.startswith(dialect.sep, end) for _, end in record.fields[:-1])
        assert record.fields[-1][1] == record.end
        previous = record.end
    assert set(data[previous:]) <= set(dialect.lineterminator or b"\r\n")


@many
@given(dialects().flatmap(lambda d: st.tuples(st.just(d), texts(d, max_tokens=12))))
def test_state_maps_of_chunks_compose_to_the_straight_run(case: tuple[Dialect, bytes]) -> None:
    dialect, data = case
    table = dialect.automaton
    straight = [table.run(0, data[:end]) for end in range(len(data) + 1)]
    for chunk in range(1, len(data) + 1):
        ends = [*range(0, len(data), chunk), len(data)]
        assert reference_state_scan(data, table, chunk) == [straight[end] for end in ends]


@many
@given(dialects().flatmap(lambda d: st.tuples(st.just(d), texts(d), texts(d), texts(d))))
def test_composition_of_state_maps_is_associative(case: tuple[Dialect, bytes, bytes, bytes]) -> None:
    table = case[0].automaton
    a, b, c = (table.state_map(text) for text in case[1:])
    assert compose(compose(a, b), c) == compose(a, compose(b, c)) == table.state_map(b"".join(case[1:]))
    assert compose(a, table.identity) == a == compose(table.identity, a)


def test_composition_of_state_maps_is_not_commutative() -> None:
    quote, line_end = CSV.automaton.state_map(b'"'), CSV.automaton.state_map(b"\n")
    assert compose(quote, line_end) != compose(line_end, quote)
