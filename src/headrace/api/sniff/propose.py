"""From a source to a proposal of how it is written: sample, judge, name the columns, tell why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from headrace import _native
from headrace.api.read.csv_options import CsvOptions, FilesOptions
from headrace.api.read.reading import load_plan, prepare, table_columns
from headrace.api.sniff.sniff_evidence import Witness, null_evidence, null_words
from headrace.api.sniff.sniffed import Sniffed
from headrace.columns.column import Column
from headrace.columns.infer.sniff import Judged, judge
from headrace.columns.infer.sniff_header import TableBegin, find_table
from headrace.columns.load.extent import ExtentOptions
from headrace.columns.load.load import ValueOptions, load
from headrace.columns.load.rows import RowOptions
from headrace.columns.schema import SchemaOptions
from headrace.core.context import Context
from headrace.core.errors import EmptyInputError, ParseError
from headrace.sources.open import OpenSource, SourceOptions
from headrace.structure.candidates import Fixed
from headrace.structure.dialect import Dialect
from headrace.structure.layout import Layout
from headrace.structure.sample import DEFAULT_SAMPLE_BYTES, LINE_END, Sample, count_line_ends, take_sample
from headrace.structure.survey import skip_lines


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a caller knows; None is to be found out.

    Parameters
    ----------
    dialect
        Options of `Dialect` by name.
    header
        Whether the first record holds names.
    skip_rows
        Lines to leave out in front.
    header_records
        Indexes of the records that hold names, where they are given so.
    """

    dialect: Fixed = field(default_factory=dict)
    header: bool | None = None
    skip_rows: int | None = None
    header_records: tuple[int, ...] | None = None


def propose(source: OpenSource, wishes: Wishes, *, context: Context, sample_bytes: int = DEFAULT_SAMPLE_BYTES) -> Sniffed:
    """Propose how `source` is written.

    Raises
    ------
    EmptyInputError, OptionError, SourceError
        As `sniff_csv`.
    """
    Dialect(**{"sep": b"\x1f", "quote": None} | dict(wishes.dialect))  # contradictions raise here
    begin = source.begin
    lines = 0
    if wishes.skip_rows:
        line_end = wishes.dialect.get("line_end")
        begin, lines = skip_lines(source, Dialect(sep=b"\x1f", line_end=line_end), begin, wishes.skip_rows)
    sample = take_sample(source, begin, sample_bytes)
    ranked = judge(sample, wishes.dialect)
    if not ranked or not ranked[0].layout.starts:
        raise EmptyInputError("the sample holds no record; nothing can be said of how it is written")
    return _sniffed(sample, ranked, wishes, lines, context)


def _sniffed(sample: Sample, ranked: list[Judged], wishes: Wishes, lines: int, context: Context) -> Sniffed:
    best = ranked[0]
    begin = _table_begin(best, wishes)
    preamble = len(LINE_END.findall(sample.text, 0, best.layout.starts[begin.first])) if begin.first else 0
    table = _sample_table(best.layout, begin, wishes, context)
    null_values = {name: words for name, column in table.items() if (words := null_words(column))}
    witness = Witness(sample=sample, ranked=ranked, begin=begin, preamble=preamble, lines=lines)
    dialect = best.dialect
    return Sniffed(
        sep=_text(dialect.sep),
        quote_char=_text_or_none(dialect.quote),
        double_quote=dialect.double_quote,
        lenient_quotes=dialect.lenient,
        escape_char=_text_or_none(dialect.escape),
        comment=_text_or_none(dialect.comment),
        lineterminator=_text_or_none(dialect.line_end),
        skip_initial_space=dialect.skip_initial_space,
        line_ends=tuple(_text(end) for end, count in count_line_ends(sample.text).items() if count),
        header=begin.header,
        skip_rows=lines + preamble,
        schema={name: str(column.type) for name, column in table.items()},
        skipped=tuple(witness.skipped()),
        null_values=tuple(sorted({word for words in null_values.values() for word in words})),
        agreement=min(witness.agreements()),
        evidence=(*witness.lines_to_read(), *null_evidence(null_values)),
        sample_bytes=sample.bytes_read,
    )


def _table_begin(best: Judged, wishes: Wishes) -> TableBegin:
    regular = best.regularity if wishes.skip_rows is None else replace(best.regularity, first=0)
    begin = find_table(best.layout, regular)
    return begin if wishes.header is None else TableBegin(begin.first, wishes.header, "given")


def _sample_table(layout: Layout, begin: TableBegin, wishes: Wishes, context: Context) -> dict[str, Column]:
    """The sample's whole records as `read_csv` types them; what does not fit is null or left out."""
    last = len(layout.starts) - 1
    text = layout.text[layout.starts[begin.first] : layout.starts[last] + len(layout.record_text(last))]
    options = CsvOptions(
        dialect=layout.dialect,
        schema=SchemaOptions(header=begin.header),
        values=ValueOptions(on_error="null"),
        extent=ExtentOptions(header=wishes.header_records),
        rows=RowOptions(),
        row_index=None,
        source=SourceOptions(),
        files=FilesOptions(),
        context=context,
        chunk_bytes=None,
    )
    source = OpenSource(_native.Source.from_bytes(text), "<sample>")
    # A header with a malformed quote is for read_csv to complain of.
    try:
        prepared = prepare(source, options)
    except ParseError:
        return {}
    return dict(table_columns(prepared, load(source, layout.dialect, load_plan(source, prepared, options)), options))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _text_or_none(data: bytes | None) -> str | None:
    return None if data is None else _text(data)
