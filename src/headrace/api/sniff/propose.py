"""Proposes how a source is written: takes a sample, ranks dialects, finds the table, and checks the proposal by a read.

The proposal is the dialect of the highest rank that reads the sample without a fault. A record of another width than the table
is not a fault: the proposal then has policies for such records (`row_policies.py`). A malformed quote is a fault, so lenient
quotes or no quotes are proposed. This also holds if quotes are malformed only in the windows further on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from headrace.api.sniff.number_marks import likely_marks, verdict_on
from headrace.api.sniff.read_sample import Reading, SampleOptions, read_sample
from headrace.api.sniff.row_policies import row_policies
from headrace.api.sniff.sniff_evidence import COLUMNS_JUDGED, Witness, null_evidence, null_words
from headrace.api.sniffed import POLICIES, Sniffed
from headrace.columns.infer.sniff import POINT, Marks, RankedDialect, judge
from headrace.columns.infer.sniff_table import TableBegin, find_footer, find_table
from headrace.columns.plan.row_policy import RowOptions
from headrace.columns.records.data_range import DataRangeOptions
from headrace.core.context import Context
from headrace.core.errors import EmptyInputError
from headrace.sources.open import OpenSource
from headrace.structure.candidates import Fixed
from headrace.structure.dialect import MALFORMED_QUOTES_ARE_TEXT, Dialect
from headrace.structure.sample import DEFAULT_SAMPLE_BYTES, Sample, count_line_ends, line_end_pattern, take_sample
from headrace.structure.survey import skip_lines

_TRIED = 5  # greatest number of dialects that read the sample


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options that a caller gave; None for those to be found."""

    dialect: Fixed = field(default_factory=dict)  # options of `Dialect` by name
    header: bool | None = None  # True if the first record holds the names
    skip_rows: int | None = None  # number of lines to leave out before the table
    header_records: tuple[int, ...] | None = None  # indexes of the records that hold the names
    columns: int | None = None  # number of columns, if names are given
    policies: tuple[str, ...] = POLICIES  # names of the policies that may be proposed
    marks: bool = True  # True if marks of numbers may be proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A ranked dialect with the other options of its proposal, and the sample as they read it."""

    judged: RankedDialect
    begin: TableBegin
    preamble: int
    policies: Mapping[str, str]
    reading: Reading
    marks: Marks = POINT
    marks_reason: str = ""


def propose(source: OpenSource, wishes: Wishes, *, context: Context, sample_bytes: int = DEFAULT_SAMPLE_BYTES) -> Sniffed:
    """Propose how `source` is written."""
    Dialect(**{"sep": b"\x1f", "quote_char": None} | dict(wishes.dialect))  # contradictions raise here
    begin = source.begin
    lines = 0
    if wishes.skip_rows:
        line_end = wishes.dialect.get("lineterminator")
        begin, lines = skip_lines(source, Dialect(sep=b"\x1f", lineterminator=line_end), begin, wishes.skip_rows)
    sample = take_sample(source, begin, sample_bytes)
    ranked = judge(sample, wishes.dialect)
    if not ranked or not ranked[0].layout.starts:
        raise EmptyInputError("the sample holds no record, so there is nothing to sniff")
    candidates = (_candidate(sample, judged, wishes, context) for judged in ranked[:_TRIED])
    chosen = next((candidate for candidate in candidates if not candidate.reading.fault), None)
    return _sniffed(sample, ranked, chosen or _candidate(sample, ranked[0], wishes, context), wishes, lines)


def _candidate(sample: Sample, judged: RankedDialect, wishes: Wishes, context: Context) -> _Candidate:
    layout, begin = judged.layout, _table_begin(sample, judged, wishes)
    pattern = line_end_pattern(layout.dialect.lineterminator)
    preamble = len(pattern.findall(sample.text, 0, layout.starts[begin.first])) if begin.first else 0
    indexes = wishes.header_records or ((0,) if begin.header is True else begin.header or None)
    widths = layout.widths[begin.first :]
    columns = wishes.columns or max((widths[index] for index in indexes or (0,) if index < len(widths)), default=1)
    data = widths[begin.names : len(widths) - begin.footer]
    policies = row_policies(data, columns)
    last = len(layout.starts) - 1
    end = len(sample.text) if sample.whole else layout.starts[last] + len(layout.record_text(last))
    extent = DataRangeOptions(
        skip_rows=preamble, header=indexes, skip_footer=begin.footer, widest=policies.get("long_records") == "widen"
    )
    text, by = sample.text[:end], SampleOptions(dialect=layout.dialect, extent=extent, rows=RowOptions(**policies))
    reading, marks, reason = read_sample(text, by, context), POINT, ""
    for likely in likely_marks(reading.columns, layout.dialect) if wishes.marks else ():
        marked = read_sample(text, by, context, likely)
        verdict = verdict_on(likely, layout.dialect, reading.columns, marked.columns)
        reason = verdict.reason or reason
        if verdict.proposed:
            reading, marks = marked, likely
            break
    return _Candidate(
        judged=judged,
        begin=begin,
        preamble=preamble,
        policies={name: policy for name, policy in policies.items() if name in wishes.policies},
        reading=reading,
        marks=marks,
        marks_reason=reason,
    )


def _table_begin(sample: Sample, judged: RankedDialect, wishes: Wishes) -> TableBegin:
    given = wishes.skip_rows is not None
    regular = replace(judged.regularity, first=0) if given else judged.regularity
    begin = find_table(judged.layout, regular, first_is_given=given)
    if wishes.header_records is not None:
        begin = TableBegin(begin.first, wishes.header_records, "given")
    elif wishes.header is not None:
        begin = TableBegin(begin.first, wishes.header, "given")
    if sample.whole and "skip_footer" in wishes.policies:
        return replace(begin, footer=find_footer(judged.layout, begin))
    return begin


def _sniffed(sample: Sample, ranked: list[RankedDialect], chosen: _Candidate, wishes: Wishes, lines: int) -> Sniffed:
    best, begin = chosen.judged, chosen.begin
    columns = chosen.reading.columns
    judged = islice(columns.items(), COLUMNS_JUDGED)
    null_values = {name: words for name, column in judged if (words := null_words(column, chosen.marks))}
    witness = Witness(
        sample=sample,
        ranked=[best, *(judged for judged in ranked if judged is not best)],
        begin=begin,
        preamble=chosen.preamble,
        lines=lines,
        policies=chosen.policies,
        fault=chosen.reading.fault,
        may_repair=wishes.dialect.keys().isdisjoint(MALFORMED_QUOTES_ARE_TEXT),
    )
    dialect: dict[str, Any] = {name: _as_text(getattr(best.dialect, name)) for name in Dialect.names()}
    if witness.repairs_windows:
        dialect |= MALFORMED_QUOTES_ARE_TEXT
    return Sniffed(
        **dialect,
        line_ends=tuple(_as_text(end) for end, count in count_line_ends(sample.text).items() if count),
        header=begin.header,
        header_reason=begin.reason,
        skip_rows=lines + chosen.preamble,
        short_records=chosen.policies.get("short_records"),
        long_records=chosen.policies.get("long_records"),
        skip_footer=begin.footer,
        schema={name: str(column.type) for name, column in columns.items()},
        skipped=tuple(witness.skipped()),
        decimal=chosen.marks.decimal,
        thousands=chosen.marks.thousands,
        null_values=tuple(sorted({word for words in null_values.values() for word in words})),
        agreement=min(witness.agreements()),
        evidence=(*witness.lines_to_read(), *filter(None, [chosen.marks_reason]), *null_evidence(null_values)),
        sample_bytes=sample.bytes_read,
    )


def _as_text(value: Any) -> Any:
    """Return bytes as text, and other values as they are."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
