"""`read_csv`: a delimited text to a typed table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from headrace.api.read.csv_options import ALIASES, parse_options
from headrace.api.read.read_files import read_files
from headrace.api.read.reading import load_placed, make_report, prepare, report_later, table_columns, wanted_device
from headrace.api.sniff.sniff_csv import AUTO, sniff_files, sniff_rest
from headrace.api.table import Table
from headrace.columns.date_format import DateFormatLike
from headrace.columns.plan.load_run import Progress
from headrace.columns.schema import DTypesLike, SchemaLike
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.options import resolve_aliases
from headrace.sources.find_files import list_sources
from headrace.sources.open import SourceLike, open_source


def read_csv(
    source: SourceLike | Iterable[SourceLike],
    *,
    device: Device | str | None = None,
    dialect: Literal["auto"] | None = None,
    sep: str | bytes = ",",
    header: bool | Literal["infer"] | int | Sequence[int] = "infer",
    names: Sequence[str] | None = None,
    columns: Sequence[str | int] | None = None,
    schema: SchemaLike | None = None,
    dtypes: DTypesLike | None = None,
    infer_schema: bool = True,
    shrink: bool = False,
    strings: Literal["plain", "view", "dictionary"] = "plain",
    null_values: str | Iterable[str] | Mapping[str | int, str | Iterable[str]] = ("",),
    quoted_null: bool = False,
    true_values: str | Iterable[str] = ("true", "True", "TRUE"),
    false_values: str | Iterable[str] = ("false", "False", "FALSE"),
    decimal: str = ".",
    thousands: str | None = None,
    date_format: DateFormatLike = None,
    dayfirst: bool = False,
    quote_char: str | bytes | None = '"',
    double_quote: bool = True,
    lenient_quotes: bool = False,
    strict_quotes: bool = False,
    escape_char: str | bytes | None = None,
    comment: str | bytes | None = None,
    lineterminator: str | bytes | None = None,
    skip_initial_space: bool = False,
    skip_blank_lines: bool = True,
    skip_rows: int = 0,
    skip_rows_after_header: int = 0,
    n_rows: int | None = None,
    skip_footer: int = 0,
    short_records: Literal["null", "error", "reject"] | None = None,
    long_records: Literal["error", "truncate", "collect", "widen", "reject"] | None = None,
    row_index_name: str | None = None,
    row_index_offset: int = 0,
    compression: Literal["infer", "gzip", "zstd", "bz2", "xz", "lz4"] | None = "infer",
    encoding: str | None = None,
    encoding_errors: Literal["strict", "replace"] = "strict",
    on_error: Literal["raise", "null", "reject"] = "raise",
    glob: bool = True,
    union_by_name: bool = False,
    include_file_paths: str | None = None,
    hive_partitioning: bool | Literal["auto"] = "auto",
    context: Context | None = None,
    threads: int | None = None,
    chunk_bytes: int | None = None,
    progress: Progress | None = None,
    **aliases: object,
) -> Table:
    """Read a delimited text into a table of typed columns.

    The table does not depend on threads, chunk size or instruction set, and nothing is dropped quietly: records = rows + rejected
    records + records that an option leaves out (header, comments, blank lines), all counted in ``table.report``.

    Parameters
    ----------
    source
        Path, bytes or file object, also one of ``fsspec.open(url)``, which is opened and closed here. Bytes, and arrays of bytes,
        are the text itself; those that name a file are refused. A file is read in pieces: memory is that of the result and a few
        MB a thread.
        Or several: a list of such, or a pattern (``"data/*.csv"``, ``"data/**/*.csv"``), whose files are read in the order of
        their paths. The table has the rows of all, one file after another, and a column has one type for all; ``rejects`` has
        a column ``file``, and the report says what became of each. Rows are skipped in each file; `n_rows` and the row index
        go on from one to the next.
    device
        ``"cpu"`` or a GPU, ``"cuda"`` or ``"cuda:1"``; None for what `context` says: where the text is read and the table is to
        be. An array of bytes on a GPU as `source` is read there.
    dialect
        ``"auto"``: what `sniff_csv` proposes takes the place of each option below that has its default; the proposal is
        ``report.sniffed``. A preamble, comments or a footer that it leaves out are counted in ``report.skipped``. `short_records`
        and `long_records` are proposed for ragged texts unless `on_error` is given. Of several files the first that holds a
        record says how all are written, and no footer is proposed.
    sep
        What separates fields, 1 to 8 bytes, taken literally: no regular expression.
    header
        Whether the first record holds the names. ``"infer"`` compares its fields with up to 100 records below it. It is data
        if all fields are values that fit their columns (numbers over numbers). If some fields are text, it is data only if a
        text occurs again in its column, or if the record holds a value twice. In all other cases it is the header.
        ``report.header`` has the decision and its reason.
        A whole number is the index of the record that does, several are joined to one (``a_x``); records before are skipped.
    names
        Names of the columns, for a text without a header or in place of it. They decide how many fields a record has.
    columns
        Names or positions of the columns to read, in the table's order; the others are not converted. A text is one name. None
        for all.
    schema
        The types of all columns: a mapping from name (matched with the header's, if there is one; else in order), or a sequence
        in order. Types are texts such as ``"int32"``, ``"timestamp[us]"`` or ``"decimal128(12, 2)"``, Python classes, or types of
        Arrow, Polars or NumPy.
    dtypes
        The types of some columns, by name or position, or one type for all; the others are inferred.
    infer_schema
        False makes every column without a given type a string.
    shrink
        Give inferred columns the smallest type that holds them: int8 to int64, uint8 to uint32, float32 where exact.
    strings
        What text becomes in columns whose type is not given: ``"plain"``, Arrow's ``string`` (``large_string`` from 2^31 bytes
        on); ``"view"``, ``string_view``, in memory that the column owns; ``"dictionary"``, codes of distinct texts, numbered by
        first appearance.
    null_values
        Texts that mean null, in all columns or, as a mapping, in some by name or position; in the others it is the empty text.
        Unquoted fields only, unless `quoted_null`. In columns that are not text an empty field is null too, whatever texts are
        given; ``null_values=()`` says that no field is null.
    quoted_null
        Whether a quoted field may be null.
    true_values, false_values
        Texts of booleans.
    decimal, thousands
        What stands before decimals, and between groups of three digits; each one ASCII character. Groups are strict: "1,23" is no
        number with ``thousands=","``. Either may be the separator, for numbers in quotes.
    date_format
        How dates and times are written, as for `strptime`: one format, or several of which the first that fits the whole text
        counts, for all columns or for some by name or position. They take the place of ISO 8601. See Notes.
    dayfirst
        Take 31/01/2024, 31-01-2024 and 31.01.2024 for dates too, with or without a time (``HH:MM[:SS[.f]]``), in columns without
        a `date_format`. Month first is never guessed; give ``date_format="%m/%d/%Y"``.
    quote_char, double_quote, escape_char
        What encloses fields; whether two of them stand for one inside; what makes the next byte data. None for none. A quote
        opens a field only as its first byte; inside an unquoted field it is text.
    lenient_quotes
        A quote that cannot stand where it does is text: also one inside a quoted field, and one that no quote before a delimiter
        closes. Each such record is in ``rejects``, kept. A text without malformed quotes is read as always.
    strict_quotes
        A record with a quote inside an unquoted field is malformed, and goes by `on_error`. Excludes `lenient_quotes`.
    comment
        Prefix, 1 to 8 bytes, of lines to leave out.
    lineterminator
        What ends a record, 1 to 8 bytes; None for LF, CR LF and CR, also mixed.
    skip_initial_space
        Leave out spaces before a field.
    skip_blank_lines
        Leave out empty lines; otherwise each is a record of one empty field.
    skip_rows
        Lines to leave out in front of the header, whatever is in them.
    skip_rows_after_header, skip_footer
        Records to leave out behind the header, and at the end.
    n_rows
        Read at most so many records of data, and no byte behind them.
    short_records
        What to do with a record that has too few fields: fill it with nulls, raise, or reject it; None: as `on_error` says.
    long_records
        With one that has too many: ``"truncate"`` keeps the fields that there are columns for (the record is in ``rejects``,
        kept), ``"collect"`` puts the text behind them into a column ``extra_fields``, ``"widen"`` makes columns for them,
        ``"error"`` raises, ``"reject"`` rejects.
    row_index_name, row_index_offset
        Name of a first column with the index of each row's record, and what it counts from.
    compression
        How the source is compressed: ``"gzip"``, ``"zstd"``, ``"bz2"``, ``"xz"`` or ``"lz4"`` (frames); ``"infer"`` looks how it
        begins. The whole text is held in memory, and places are bytes of the decompressed text.
    encoding
        Python's name of the text's encoding; None for UTF-8, or UTF-16 and UTF-32 where a byte-order mark says so. UTF-16 and
        code pages of one byte (``"latin-1"``, ``"cp1252"``) are decoded in the threads, and places in rejects, errors and
        evidence are bytes of the source. Any other codec (``"shift_jis"``) first decodes the whole text into memory, and
        places are bytes of that text in UTF-8. A file object that gives text is taken as it is.
    encoding_errors
        ``"strict"``: what cannot be decoded is a fault of its field. ``"replace"``: it becomes U+FFFD in strings, and
        ``report.replaced`` counts them. ``encoding="utf8-lossy"`` is short for this with UTF-8.
    on_error
        What to do with a field that its column's type does not hold, a record with too few or too many fields, malformed quotes,
        text that cannot be decoded. ``"raise"``: raise at the first. ``"null"``: make the field null, reject records whose
        structure is wrong. ``"reject"``: reject the record. Every fault is a row of ``table.rejects``; all rows of a record have
        the same ``kept``, which says whether it is in the table. Fields of columns that `columns` leaves out have no faults. A
        fault of the header is one with record 0; the names are taken as they stand.
    glob
        Whether ``*``, ``?``, ``[...]`` and ``**`` (any folders) in a path make it a pattern. A path that exists is none.
    union_by_name
        Of several files: False, all have the same columns in the same order. True: columns go by their names, in the order in
        which they turn up; a file without one has nulls there.
    include_file_paths
        Name of a column, the last one, for the path of the file that a row comes from.
    hive_partitioning
        Whether folders such as ``year=2024`` in the paths give columns, behind the files' own: their types are inferred as
        others are, or given. ``"auto"``: if several files are read, all have the same keys, and no file has such a column
        itself. True: a folder may be named as well, for all files below it.
    context
        Threads, memory limit and instruction set; `device` and `threads` are short for its fields.
    threads
        At most so many threads.
    chunk_bytes
        Bytes of text that a thread takes at a time; None for a good number.
    progress
        Is called about every 0.1 s, on the calling thread, with the bytes of text that are taken and those there are, of
        all files; a second pass over a text counts again. What it raises ends the read. Not called in a shorter read.
    **aliases
        The names that other readers use, e.g. ``delimiter``, ``na_values``, ``dtype``.

    Returns
    -------
    Table
        With ``.rejects`` and ``.report``.

    Raises
    ------
    OptionError
        An unknown or contradictory option; the message names the nearest valid one.
    ParseError
        With ``on_error="raise"``: where the first fault is, and what was expected.
    EmptyInputError
        No record, and nothing that says what the columns are.
    SourceError, FileNotFoundError
        The source cannot be read, or changed while it was.
    NoMatchError
        A pattern matches no file.
    MemoryLimitError
        The result does not fit ``context.memory_limit``, or memory.

    Notes
    -----
    Types are inferred from the whole input: bool, int64, uint64, float64, date32, timestamp (us, or ns if a value needs it;
    UTC if the values have offsets), time64 (12:30:15, always with seconds), duration (P1DT2H, 1 day 02:00:00), else string;
    time64 and duration are us or ns as timestamps are. Numbers with leading zeros ('007') or '+' stay text; hexadecimal ones
    (0x1F) are integers where a column has no others. An integer beyond int64 is uint64 among natural numbers, else text. Only
    on request: decimal128, binary (bytes of any encoding), null (a column without values, else string), and the smaller types.
    ``report.columns`` names the record that forced each type.

    Directives of `date_format`: ``%Y %y %m %d %j %b %B %H %I %p %M %S %f %z %Z %s %e %D %F %R %T %%``. Numbers may lack leading
    zeros unless digits follow at once; ``%y`` is 1969 to 2068; ``%f`` has one to nine digits; month names are English; ``%z`` is
    Z, +HH, +HHMM or +HH:MM; ``%Z`` is UTC, GMT or Z; ``%s``, seconds since 1970, is an instant. Every other character stands for
    itself. A format must give a whole date; one without a time makes dates, one with a time makes timestamps. A text that is a
    number too (20240131 by ``%Y%m%d``) is inferred to be a date only where the format is given for that column.

    A column of type ``"timestamp[us, Europe/Berlin]"`` (any zone, or ``"+02:00"``) holds instants. Text with an offset is exact;
    text without one is local time of the zone, and a fault if the clocks skipped that time or showed it twice.

    The structure is found as in ParPaRaw (Stehle and Jacobsen, PVLDB 13(5), 2020): every chunk is read from every state it may
    begin in, and a scan over the chunks picks the right one.

    Examples
    --------
    >>> import headrace
    >>> table = headrace.read_csv(b"city,founded\\nRome,-753\\nParis,\\n")
    >>> table["founded"].to_pylist()
    [-753, None]
    """
    given = dict(locals())
    del given["source"], given["aliases"]
    defaults = read_csv.__kwdefaults__ or {}
    values = resolve_aliases(given, aliases, ALIASES, defaults)
    options = parse_options(values, defaults)
    sources = list_sources(source, glob=options.files.glob, hive=options.files.hive_partitioning is True)
    if sources is not None or options.files.wanted:
        settle = partial(sniff_files, values=values, defaults=defaults) if values["dialect"] == AUTO else None
        return read_files(sources or [source], options, settle)  # type: ignore[list-item]
    begun = time.perf_counter()
    with open_source(source, options.source) as opened:
        sniffed = None
        if values["dialect"] == AUTO:
            sniffed, options = sniff_rest(opened, values, defaults, options)
        prepared = prepare(opened, options)
        planned = time.perf_counter()
        loaded = load_placed(opened, prepared, options)
        done = time.perf_counter()
        device = wanted_device(opened, options)
    seconds = {"prepare": planned - begun, **loaded.seconds, "total": done - begun}
    told = opened, prepared, loaded, options, seconds
    report = report_later(*told) if sniffed is None else replace(make_report(*told), sniffed=sniffed)
    table = Table(table_columns(prepared, loaded, options), rejects=Table(loaded.rejects), report=report)
    return table if loaded.device == str(device) else table.to(device, context=options.context)
