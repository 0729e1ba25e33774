"""Reads delimited text into a table of typed columns: `read_csv`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from headrace.api.load.reading import load_placed, make_report, prepare, report_later, table_columns, wanted_device
from headrace.api.options.csv_options import CsvOptions, Keywords, ParsedCall, parse_call, resolve_names
from headrace.api.options.keywords import (
    AUTO,
    ColumnsLike,
    CompressionLike,
    CsvKeywords,
    DialectLike,
    EncodingErrors,
    NullValues,
    OnError,
)
from headrace.api.options.table import ALIASES, DEFAULTS, MEANS_NONE
from headrace.api.table import Table
from headrace.columns.date_format import DateFormatLike
from headrace.columns.plan.load_run import Progress
from headrace.columns.plan.row_policy import LongRecords, ShortRecords
from headrace.columns.schema import DTypesLike, SchemaLike
from headrace.core.context import Context
from headrace.core.device import Device
from headrace.core.options import single_names
from headrace.encode.texts import StringForm
from headrace.sources.find_files import list_sources
from headrace.sources.kinds.gpu_array import is_on_gpu
from headrace.sources.open import OpenSource, SourceLike, open_on_gpu, open_source

if TYPE_CHECKING:
    from headrace.api.read.read_files import FindDialect


@single_names(ALIASES, MEANS_NONE)
def read_csv(
    source: SourceLike | Iterable[SourceLike],
    *,
    device: Device | str | None = None,
    dialect: DialectLike | None = None,
    sep: str | bytes = ",",
    header: bool | Literal["infer"] | int | Sequence[int] | None = "infer",
    names: Sequence[str] | Mapping[str | int, str] | None = None,
    columns: ColumnsLike | None = None,
    schema: SchemaLike | None = None,
    dtypes: DTypesLike | None = None,
    infer_schema: bool = True,
    shrink: bool = False,
    strings: StringForm = "plain",
    null_values: NullValues | None = ("",),
    quoted_null: bool = False,
    true_values: str | Iterable[str] | None = ("true", "True", "TRUE"),
    false_values: str | Iterable[str] | None = ("false", "False", "FALSE"),
    decimal: str = ".",
    thousands: str | None = None,
    date_format: DateFormatLike = None,
    dayfirst: bool = False,
    quote_char: str | bytes | None = '"',
    double_quote: bool = True,
    lenient_quotes: bool = False,
    strict_quotes: bool = False,
    escape_char: str | bytes | None = None,
    escape_sequences: bool = False,
    comment: str | bytes | None = None,
    lineterminator: str | bytes | None = None,
    skip_initial_space: bool = False,
    strip: bool = False,
    skip_blank_lines: bool = True,
    skip_rows: int = 0,
    skip_rows_after_header: int = 0,
    n_rows: int | None = None,
    skip_footer: int = 0,
    short_records: ShortRecords | None = None,
    long_records: LongRecords | None = None,
    row_index_name: str | None = None,
    row_index_offset: int = 0,
    compression: CompressionLike | None = "infer",
    encoding: str | None = None,
    encoding_errors: EncodingErrors = "strict",
    on_error: OnError = "raise",
    max_rejects: int | None = None,
    glob: bool = True,
    union_by_name: bool = False,
    include_missing_columns: bool = False,
    include_file_paths: str | None = None,
    hive_partitioning: bool | Literal["auto"] = "auto",
    context: Context | None = None,
    threads: int | None = None,
    chunk_bytes: int | None = None,
    progress: Progress | None = None,
    **aliases: object,
) -> Table:
    """Read delimited text into a table of typed columns.

    The result does not depend on the number of threads, the chunk size or the instruction set. No record is lost silently:
    records = rows + rejected records + records that an option leaves out (header, comments, blank lines). ``table.report`` has
    all these counts.

    Parameters
    ----------
    source
        A path, bytes, or a file object. A leading ``~`` is the home directory. File objects of ``fsspec.open(url)`` are opened
        and closed here. Bytes, and arrays of bytes, are the text itself; bytes that look like a path are refused. A file is read
        in pieces, so the memory needed is that of the result and a few MB a thread.

        Several sources are a list, a set of paths, or a pattern (``"data/*.csv"``, ``"data/**/*.csv"``). Files of a set or a
        pattern are read in the order of their paths. The table has the rows of all files, one file after another, and each
        column has one type for all files.
        ``rejects`` then has a column ``file``, and the report has an entry for each file. Rows are skipped in each file;
        `n_rows` and the row index continue from one file to the next.
    device
        Device that reads the text and has the table: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``. None for the device of `context`; an
        array of bytes on a GPU is then read on that GPU.
    dialect
        ``"auto"`` finds how the text is written: what `sniff_csv` proposes replaces each option below that has its default. The
        proposal is ``report.sniffed``. The preamble, comments and footer that it leaves out are counted in ``report.skipped``.
        If `on_error` is not given, `short_records` and `long_records` are proposed for texts that need them. Of several files,
        the first that holds a record decides for all, and no footer is proposed. None uses the options as given. A `Dialect`
        stands for those of its options that are not its defaults. A dialect of Python's `csv`, or its name (``"excel-tab"``),
        stands for the options that it has.
    sep
        Field separator, 1 to 8 bytes. It is taken literally, never as a regular expression.
    header
        Whether the first record holds the names of the columns. ``"infer"`` compares its fields with up to 100 records below
        it. The first record is data if all its fields are values that fit their columns, such as numbers over numbers. A first
        record with text is data only in two cases: a text occurs again in its column, or the record holds a value twice. In all
        other cases it is the header. ``report.header`` has the decision and its reason.

        An integer is the index of the record that holds the names, from 0. With several indexes, the names of these records are
        joined (``a_x``). Records before the header are skipped. None means False.
    names
        Names of the columns, for a text without a header or instead of it. Their number is the number of fields of a record.
        A mapping renames some columns: from a name or position in the text to the new name, which other options then use.
    columns
        Names or positions of the columns to read, in the order of the table; those of a set, in the order of the text. The
        others are not converted. One text is one name. A mapping of names to types is a `schema`. None for all. The row
        index and columns from the paths may be named too. If one is, other columns from the paths are left out.
    schema
        Types of all columns: a mapping from name to type, or a sequence of types in the order of the columns. Names are matched
        with the header if there is one. A type is a text such as ``"int32"``, ``"timestamp[us]"`` or ``"decimal128(12, 2)"``. It
        may be a name in SQL, a Python class, or a type of Arrow, Polars, pandas or NumPy. A PyArrow schema is a mapping. None to
        infer the types.
    dtypes
        Types of some columns, by name or position, or one type for all; a list has those of the first columns. The other types
        are inferred.
    infer_schema
        Whether to infer the types that are not given. If False, these columns are strings.
    shrink
        Whether inferred columns get the smallest type that holds them: int8 to int64, uint8 to uint32, float32 if exact.
    strings
        Form of inferred string columns. ``"plain"``: Arrow's ``string``, or ``large_string`` from 2^31 bytes. ``"view"``:
        ``string_view``, in memory that the column owns. ``"dictionary"``: codes of distinct texts, numbered in the order of
        first appearance.
    null_values
        Texts that mean null, for all columns, or as a mapping for some columns by name or position. A number means its text, so
        -999 means "-999" and not "-999.0". In columns that the mapping leaves out, the empty text means null. Quoted fields are
        never null, unless `quoted_null` is set. In columns other than strings an empty field is null whatever texts are given;
        with ``null_values=()`` no field is null. None is the default. ``"auto"``: the empty text, and in columns that are not
        text also words such as ``NA``, ``null``, ``NaN``, ``-`` and ``?``. A column of text keeps these words. A text that
        contains `escape_char` is compared with a field as it is written: with the escape ``\\``, ``\\N`` is null and ``\\\\N`` is
        not.
    quoted_null
        Whether a quoted field may be null.
    true_values
        Texts that mean true. A number among them is a boolean wherever it stands: with ``true_values=["1"]``, an inferred column
        of 1 and 2 is text. Its type, or other words, can be given: ``dtypes={"n": int}`` reads numbers.
    false_values
        Texts that mean false.
    decimal
        Decimal point, one ASCII character. It may be the separator, for numbers in quotes.
    thousands
        Separator of groups of three digits, one ASCII character; None for none. Groups are strict: with ``thousands=","``,
        "1,23" is not a number. It may be the separator, for numbers in quotes.
    date_format
        Format of dates and times, as for `strptime`: one format, or several, of which the first that fits the whole text counts.
        They apply to all columns, or, as a mapping, to some columns by name or position. Formats replace ISO 8601. See Notes.
    dayfirst
        Whether 31/01/2024, 31-01-2024 and 31.01.2024 are dates too, with or without a time (``HH:MM[:SS[.f]]``), in columns
        without a `date_format`. Month first is never guessed; use ``date_format="%m/%d/%Y"``.
    quote_char
        Quoting character, one byte; None, False or the empty text for none. A quote opens a field only as the field's first
        byte. Inside an unquoted field it is text.
    double_quote
        Whether two quotes inside a quoted field stand for one.
    lenient_quotes
        Whether malformed quotes are text: quotes inside a quoted field, and opening quotes that no quote before a delimiter
        closes. The records concerned are kept, and listed in ``rejects``. Other texts are read as without this option. A quote
        after more than 16 initial spaces does not show that an earlier one is unclosed.
    strict_quotes
        Whether a quote inside an unquoted field makes its record malformed, so that `on_error` decides what happens to it.
        Excludes `lenient_quotes`.
    escape_char
        Escape character, one byte; None, False or the empty text for none. The byte after it is data.
    escape_sequences
        Whether letters after `escape_char` stand for other bytes, so that texts of PostgreSQL, MySQL and ClickHouse are read as
        they were. Backspace, form feed, line feed, carriage return, tab and vertical tab are ``b f n r t v``. A zero byte is
        ``0``, and byte 1A is ``Z``. Every other byte stands for itself: ``\\101`` is ``101`` and ``\\x41`` is ``x41``, as in
        MySQL. PostgreSQL reads these as codes, but writes none.
    comment
        Prefix of lines to leave out, 1 to 8 bytes; None for none.
    lineterminator
        Line terminator, 1 to 8 bytes. None for LF, CR LF and CR, also mixed.
    skip_initial_space
        Whether to leave out spaces at the start of a field.
    strip
        Whether to leave out spaces around a field, also outside its quotes. Spaces inside quotes are data. A line of spaces
        is no empty line, but a record of one empty field. Separator and line terminator must be one byte; excludes `escape_char`
        and `lenient_quotes`.
    skip_blank_lines
        Whether to leave out empty lines. If False, each is a record of one empty field.
    skip_rows
        Number of lines to leave out before the header, whatever they hold.
    skip_rows_after_header
        Number of records to leave out after the header.
    n_rows
        Greatest number of data records to read; no byte after them is read. None for all.
    skip_footer
        Number of records to leave out at the end.
    short_records
        Action on a record of too few fields. ``"null"``: fill it with nulls. ``"error"``: raise. ``"reject"``: reject it. None:
        as with `on_error`.
    long_records
        Action on a record of too many fields. ``"truncate"``: keep the fields that have a column, and list the record in
        ``rejects``. ``"collect"``: put the text of the others into a column ``extra_fields``. ``"widen"``: add columns for them.
        ``"error"``: raise. ``"reject"``: reject the record. None: as with `on_error`.
    row_index_name
        Name of a first column with the index of each row's record. None for no such column.
    row_index_offset
        Index of the first record.
    compression
        Compression of the source: ``"gzip"``, ``"zstd"``, ``"bz2"``, ``"xz"``, ``"lz4"`` (frames) or ``"zip"`` (an archive of
        one file). ``"infer"`` recognises it by the first bytes; None takes the bytes as they are. The whole text is held in
        memory. Positions in errors, rejects and evidence are bytes of the decompressed text.
    encoding
        Python's name of the encoding. None for UTF-8, or for UTF-16 and UTF-32 if the text has a byte-order mark. UTF-16 and
        single-byte code pages (``"latin-1"``, ``"cp1252"``) are decoded by the threads that parse; positions in rejects, errors
        and evidence are bytes of the source. Other codecs (``"shift_jis"``) first decode the whole text into memory, and
        positions are bytes of that text in UTF-8. A file object that returns text is read as it is.
    encoding_errors
        Action on bytes that cannot be decoded. ``"strict"``: they are a fault of their field. ``"replace"``: they become U+FFFD
        in strings, and ``report.replaced`` counts them. ``encoding="utf8-lossy"`` means UTF-8 with ``"replace"``.
    on_error
        Action on a fault. Faults are a field that its column's type cannot hold, a record of too few or too many fields,
        malformed quotes, and undecodable bytes. ``"raise"``: raise at the first fault. ``"null"``: make the field null, and
        reject records whose structure is wrong. ``"reject"``: reject the record.

        Every fault is a row of ``table.rejects``. Its column ``kept`` says whether the record is in the table. Fields of
        columns that `columns` leaves out have no faults. Faults of the header have record 0; the names stay as they are.
    max_rejects
        Greatest number of faults of records that ``table.rejects`` lists: the first ones. ``report.faults`` and
        ``report.rejected`` count all. The limit holds for each file, and for each batch of a scan. None for no limit. A fault
        takes about 160 bytes of memory, and twice the text of its record.
    glob
        Whether ``*``, ``?``, ``[...]`` and ``**`` (any folders) make a path a pattern. A path that exists is never a pattern.
    union_by_name
        Whether the columns of several files are matched by name, in the order of first appearance; a file without a column has
        nulls there. If False, all files have the same columns in the same order.
    include_missing_columns
        Whether a column that `columns`, `schema` or `dtypes` names and no file has is a column of nulls, of its given type, or of
        strings. It follows the columns of the text if `columns` does not place it. If False, such a name is an error.
    include_file_paths
        Name of a last column with the path of the file that each row comes from. None for no such column.
    hive_partitioning
        Whether folders such as ``year=2024`` in the paths become columns, after those of the files. Their types are inferred,
        or given like others. ``"auto"``: only for a list or a pattern, if all files have the same keys, and none such a column.
        With True a source may also be a folder, for all files below it.
    context
        Device, number of threads, memory limit and instruction set. None for the defaults.
    threads
        Greatest number of threads; takes precedence over that of `context`. None for that of `context`, or all cores.
    chunk_bytes
        Bytes of text that a thread takes at a time. None to choose by the size of the text.
    progress
        Function that is called about every 0.1 s, on the calling thread. Its arguments are the bytes of text done and the bytes
        in all, over all files. Bytes that are sampled, or converted again, do not count. An exception in it ends the read. Short
        reads do not call it.
    **aliases
        The names that other readers use for these options, e.g. ``delimiter``, ``na_values``, ``dtype``. Parameters of other
        readers that change nothing here, such as ``low_memory``, are accepted and noted in ``report.notes``.

    Returns
    -------
    Table
        With ``.rejects`` and ``.report``.

    Raises
    ------
    OptionError
        An option is unknown, or options contradict each other. The message names the nearest valid one.
    ParseError
        With ``on_error="raise"``: the position of the first fault, and the expected text.
    EmptyInputError
        The text has no record, and no option says what the columns are.
    SourceError, FileNotFoundError
        The source cannot be read, or changed during the read.
    NoMatchError
        No file matches a pattern.
    MemoryLimitError
        The result exceeds ``context.memory_limit``, or the memory of the machine.

    Notes
    -----
    Types are inferred from the whole input: bool, int64, uint64, float64, date32, timestamp, time64, duration, else string.

    - Timestamps, times and durations have microseconds, or nanoseconds if a value needs them. Timestamps are in UTC if the
      values have offsets. Dates are such as 2024-01-31, 2024/01/31 or 2024-1-5; times such as 12:30 or 12:30:15.5; durations
      such as P1DT2H or 1 day 02:00:00.
    - Numbers with leading zeros ('007') stay text, and so do telephone numbers: '+' and seven digits or more. Hexadecimal numbers
      (0x1F) are integers if the column has no others.
    - An integer beyond int64 makes a column of natural numbers uint64, and any other column text.
    - Only on request: decimal128, binary (bytes of any encoding), null (for a column without values, else string), and the
      smaller types.

    ``report.columns`` names the record that forced each type.

    Directives of `date_format`: ``%Y %y %m %d %j %b %B %H %I %p %M %S %f %z %Z %s %e %D %F %R %T %%``.

    - Numbers may lack leading zeros, unless a digit follows directly. ``%y`` is 1969 to 2068. ``%f`` has one to nine digits.
    - Month names are English. ``%z`` is Z, +HH, +HHMM or +HH:MM; ``%Z`` is UTC, GMT or Z. ``%s``, seconds since 1970, is an
      instant. Every other character stands for itself.
    - A format must give a whole date. Without a time it makes dates, with a time it makes timestamps.
    - A text that is a number too (20240131 for ``%Y%m%d``) is inferred as a date only if the format is given for that column.

    A column of type ``"timestamp[us, Europe/Berlin]"`` (any time zone, or ``"+02:00"``) holds instants. Text with an offset is
    exact. Text without one is local time of the zone; it is a fault if the clocks skipped that time, or showed it twice.

    The structure is found as in ParPaRaw (Stehle and Jacobsen, PVLDB 13(5), 2020). Every chunk is read from every state that it
    may begin in, and a scan over the chunks selects the right one.

    Examples
    --------
    >>> import headrace
    >>> table = headrace.read_csv(b"city,founded\\nRome,-753\\nParis,\\n")
    >>> table["founded"].to_pylist()
    [-753, None]
    """
    given = CsvKeywords(
        device=device,
        dialect=dialect,
        sep=sep,
        header=header,
        names=names,
        columns=columns,
        schema=schema,
        dtypes=dtypes,
        infer_schema=infer_schema,
        shrink=shrink,
        strings=strings,
        null_values=null_values,
        quoted_null=quoted_null,
        true_values=true_values,
        false_values=false_values,
        decimal=decimal,
        thousands=thousands,
        date_format=date_format,
        dayfirst=dayfirst,
        quote_char=quote_char,
        double_quote=double_quote,
        lenient_quotes=lenient_quotes,
        strict_quotes=strict_quotes,
        escape_char=escape_char,
        escape_sequences=escape_sequences,
        comment=comment,
        lineterminator=lineterminator,
        skip_initial_space=skip_initial_space,
        strip=strip,
        skip_blank_lines=skip_blank_lines,
        skip_rows=skip_rows,
        skip_rows_after_header=skip_rows_after_header,
        n_rows=n_rows,
        skip_footer=skip_footer,
        short_records=short_records,
        long_records=long_records,
        row_index_name=row_index_name,
        row_index_offset=row_index_offset,
        compression=compression,
        encoding=encoding,
        encoding_errors=encoding_errors,
        on_error=on_error,
        max_rejects=max_rejects,
        glob=glob,
        union_by_name=union_by_name,
        include_missing_columns=include_missing_columns,
        include_file_paths=include_file_paths,
        hive_partitioning=hive_partitioning,
        context=context,
        threads=threads,
        chunk_bytes=chunk_bytes,
        progress=progress,
    )
    return _read(source, *resolve_names(given, aliases))


# `parse_options` recognises options that are not given by the identity of their defaults, so these are the table's objects.
(read_csv.__kwdefaults__ or {}).update(DEFAULTS)


def _read(source: SourceLike | Iterable[SourceLike], values: Keywords, notes: tuple[str, ...]) -> Table:
    """Read with the options' values by name; `parse_options` parses them, and the report has the notes."""
    call, is_sniffed = parse_call(values, notes), values["dialect"] == AUTO
    if is_on_gpu(source) and not call.parsed.files.wanted:
        return _read_on_gpu(source, call, values if is_sniffed else None)
    options = call.options()
    sources = list_sources(source, glob=options.files.glob, hive=options.files.hive_partitioning is True)
    if sources is not None or options.files.wanted:
        from headrace.api.read.read_files import read_files  # not needed to read one file

        find_dialect = _dialect_finder(values) if is_sniffed else None
        if sources is None:
            options = replace(options, files=options.files.of_one())
        return read_files(sources or [source], options, find_dialect)  # type: ignore[list-item]
    begun = time.perf_counter()
    with open_source(source, options.source) as opened:
        return _read_opened(opened, options, values if is_sniffed else None, begun)


def _read_on_gpu(source: SourceLike | Iterable[SourceLike], call: ParsedCall, sniffed_values: Keywords | None) -> Table:
    """Read an array in GPU memory; parameters as for `_read_opened`."""
    from headrace.api.load.repeated_read import keep_read, repeat_read  # imports the packages for GPUs

    begun = time.perf_counter()
    table = repeat_read(source, call, begun) if sniffed_values is None else None
    if table is not None:
        return table
    options = call.options()
    opened = open_on_gpu(source, options.source)
    table = _read_opened(opened, options, sniffed_values, begun)
    if sniffed_values is None:
        keep_read(opened, call, options)
    return table


def _read_opened(opened: OpenSource, options: CsvOptions, sniffed_values: Keywords | None, begun: float) -> Table:
    """Read an open source.

    `sniffed_values`: the options' values, if the dialect is to be detected.
    """
    sniffed = None
    if sniffed_values is not None:
        from headrace.api.sniff.sniff_csv import sniff_rest  # not needed if the options are given

        sniffed, options = sniff_rest(opened, sniffed_values, options)
    prepared = prepare(opened, options)
    planned = time.perf_counter()
    loaded = load_placed(opened, prepared, options)
    done = time.perf_counter()
    device = wanted_device(opened, options)
    seconds = {"prepare": planned - begun, **loaded.seconds, "total": done - begun}
    if sniffed is None:
        report = report_later(opened, prepared, loaded, options, seconds)
    else:
        report = replace(make_report(opened, prepared, loaded, options, seconds), sniffed=sniffed)
    table = Table(table_columns(prepared, loaded, options), rejects=Table(loaded.rejects), report=report)
    return table if loaded.device == str(device) else table.to(device, context=options.context)


def _dialect_finder(values: Keywords) -> FindDialect:
    from headrace.api.sniff.sniff_csv import sniff_files  # not needed if the options are given

    return partial(sniff_files, values=values)
