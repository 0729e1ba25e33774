"""Lists the parameters of `read_csv` of pandas, Polars, PyArrow, DuckDB and cuDF, and what each means here.

A word is an option, an alias of one, or is translated to options. Others are accepted without an effect, or refused with the
option to use instead. docs/coming-from.md is generated from this table. A test compares it with the installed packages.
"""

from __future__ import annotations

from headrace.api.options import word_values as by
from headrace.api.options.word import Word, ignored, option, refused, source, translated

WORDS: tuple[Word, ...] = (
    # The source.
    source("filepath_or_buffer", "pandas", "cudf"),
    source("source", "polars"),
    source("input_file", "pyarrow"),
    source("path_or_buffer", "duckdb"),
    source("path", "duckdb"),
    option("compression", "pandas", "duckdb", "cudf", meaning="`'auto'` is `'infer'`, `'none'` is `None`"),
    option("encoding", "pandas", "polars", "pyarrow", "duckdb"),
    option("encoding_errors", "pandas", meaning="only `'strict'` and `'replace'`"),
    refused("storage_options", "pandas", "polars", "cudf", use="pass fsspec.open(url, **storage_options) as the source"),
    refused("credential_provider", "polars", use="pass fsspec.open(url, ...) as the source", unless=(None, "auto")),
    option("glob", "polars"),
    option("union_by_name", "duckdb"),
    option("include_file_paths", "polars"),
    option("filename", "duckdb", meaning="`True` is `'filename'`"),
    option("hive_partitioning", "duckdb"),
    translated("hive_types", "duckdb", by=by.hive_types, meaning="`dtypes` of these columns"),
    refused(
        "hive_types_autocast",
        "duckdb",
        use="pass dtypes={'year': 'string'} with the columns of the paths that stay text",
        unless=(None, True),
    ),
    translated(
        "missing_columns",
        "polars",
        by=by.missing_columns,
        meaning="`'insert'` is `union_by_name=True, include_missing_columns=True`, `'raise'` the default",
    ),
    refused("extra_columns", "polars", use="pass columns= with the names to read", unless=(None, "raise")),
    # How the text is written.
    option("sep", "pandas", "duckdb", "cudf", meaning="literal, no regular expression; in place of `None` pass `dialect='auto'`"),
    option("delimiter", "pandas", "pyarrow", "duckdb", "cudf"),
    option("delim", "duckdb"),
    option("separator", "polars", "duckdb"),
    refused("delim_whitespace", "pandas", "cudf", use="replace runs of spaces first: re.sub(rb'[ \\t]+', b'\\t', text)"),
    option("quotechar", "pandas", "duckdb", "cudf"),
    option("quote_char", "polars", "pyarrow", meaning="`False` and `''` are `None`"),
    option("quote", "duckdb"),
    translated(
        "quoting", "pandas", "cudf", by=by.quoting, meaning="`csv.QUOTE_NONE` is `quote_char=None`; others are the default"
    ),
    option("doublequote", "pandas", "cudf"),
    option("double_quote", "pyarrow"),
    option("escapechar", "pandas", "duckdb"),
    option("escape_char", "pyarrow", meaning="`False` is `None`"),
    translated("escape", "duckdb", by=by.escape, meaning="`escape_char`; the quote itself is `double_quote=True`"),
    translated("strict_mode", "duckdb", by=by.strict_mode, meaning="`False` is `lenient_quotes=True`, `True` the default"),
    ignored("newlines_in_values", "pyarrow", why="line breaks in quotes are always read right"),
    option("comment", "pandas", "duckdb", "cudf"),
    option("comment_prefix", "polars"),
    option("lineterminator", "pandas", "duckdb", "cudf"),
    option("eol_char", "polars"),
    option("new_line", "duckdb"),
    option("skipinitialspace", "pandas", "cudf"),
    option("skip_blank_lines", "pandas", "cudf", meaning="a line of spaces is a record, which pandas takes for blank"),
    option("ignore_empty_lines", "pyarrow"),
    translated("auto_detect", "duckdb", by=by.auto_detect, meaning="`True` is `dialect='auto'`, `False` the default"),
    option("dialect", "pandas", meaning="a `csv.Dialect`, its name, or `'auto'`"),
    ignored("sample_size", "duckdb", "polars", why="types are inferred from the whole text"),
    ignored("files_to_sniff", "duckdb", why="types are inferred from all files"),
    # Header and records.
    option("header", "pandas", "duckdb", "cudf", meaning="`None` is `False`"),
    option("has_header", "polars"),
    translated(
        "autogenerate_column_names", "pyarrow", by=by.no_header, meaning="`True` is `header=False`; names are `column_1`, ..."
    ),
    option("skiprows", "pandas", "duckdb", "cudf", meaning="a number; no list and no function"),
    option("skip_rows", "polars", "pyarrow", meaning="a number of lines"),
    option("skip_lines", "polars"),
    option("skip", "duckdb"),
    option("skip_rows_after_header", "polars"),
    option("skip_rows_after_names", "pyarrow"),
    option("skipfooter", "pandas", "cudf"),
    option("nrows", "pandas", "cudf"),
    option("n_rows", "polars"),
    refused("byte_range", "cudf", use="use scan_csv(source, resume=byte) to begin at a record in the middle"),
    translated(
        "truncate_ragged_lines",
        "polars",
        by=by.truncate_ragged_lines,
        meaning="`True` is `short_records='null', long_records='truncate'`",
    ),
    translated("null_padding", "duckdb", by=by.null_padding, meaning="`True` is `short_records='null'`"),
    refused(
        "invalid_row_handler", "pyarrow", use="pass short_records= and long_records=, and look at table.rejects", unless=(None,)
    ),
    refused("allow_empty", "duckdb", use="pass schema= or names= to get an empty table of an empty text"),
    refused("raise_if_empty", "polars", use="pass schema= or names= to get an empty table of an empty text", unless=(None, True)),
    ignored("max_line_size", "duckdb", why="records may have any length"),
    ignored("maximum_line_size", "duckdb", why="records may have any length"),
    # Columns and types.
    option("names", "pandas", "duckdb", "cudf"),
    option("column_names", "pyarrow", "duckdb"),
    translated("new_columns", "polars", by=by.new_columns, meaning="`names`, in place of those of the header"),
    refused("with_column_names", "polars", use="pass names=, or rename columns of the table: table.rename(...)"),
    refused("prefix", "cudf", use="pass names=[f'{prefix}{i}' for i in range(width)]"),
    refused("normalize_names", "duckdb", use="rename columns of the table: table.rename(...)"),
    refused(
        "mangle_dupe_cols", "cudf", use="remove it; repeated names get numbers, and the report lists them", unless=(None, True)
    ),
    option("usecols", "pandas", "cudf", meaning="in the given order; a set, in the order of the text"),
    option("columns", "polars", "duckdb", meaning="names or positions; a mapping of names to types is `schema`"),
    option("include_columns", "pyarrow"),
    option("include_missing_columns", "pyarrow", meaning="without a type, the columns are strings"),
    refused("index_col", "pandas", "cudf", use="a table has no index: table.to_pandas().set_index(name)", unless=(None, False)),
    option("schema", "polars", "duckdb", meaning="a `pyarrow.Schema`, a mapping, or types in order"),
    option("dtype", "pandas", "duckdb", "cudf"),
    option("dtypes", "polars", "duckdb"),
    option("schema_overrides", "polars"),
    option("column_types", "pyarrow", "duckdb"),
    option("types", "duckdb"),
    translated(
        "default_column_type", "pyarrow", by=by.default_column_type, meaning="`dtypes`; or `infer_schema=False` for strings"
    ),
    refused("auto_type_candidates", "duckdb", use="pass dtypes= with the types of the columns", unless=(None,)),
    ignored("dtype_backend", "pandas", why="columns are Arrow columns; to_pandas(dtype_backend=...) has the choice"),
    refused(
        "converters", "pandas", use="read the columns as strings (dtypes=), and convert them after the read", unless=(None, {})
    ),
    option("infer_schema", "polars"),
    translated("all_varchar", "duckdb", by=by.all_varchar, meaning="`True` is `infer_schema=False`"),
    translated(
        "infer_schema_length",
        "polars",
        by=by.infer_schema_length,
        meaning="`0` is `infer_schema=False`; other numbers have no effect",
        note="types are inferred from the whole text",
    ),
    ignored("infer_schema_files", "polars", why="types are inferred from all files"),
    ignored("low_memory", "pandas", "polars", why="types never depend on pieces of the text"),
    translated("auto_dict_encode", "pyarrow", by=by.auto_dict_encode, meaning="`True` is `strings='dictionary'`"),
    ignored("auto_dict_max_cardinality", "pyarrow", why="a dictionary may have any number of texts"),
    option("row_index_name", "polars"),
    option("row_index_offset", "polars"),
    refused("file_row_number", "duckdb", use="pass row_index_name='file_row_number'; it continues from file to file"),
    # Values.
    option("na_values", "pandas", "duckdb", "cudf", meaning="replaces the default; numbers are taken as their text"),
    option("null_values", "polars", "pyarrow", meaning="replaces the default; numbers are taken as their text"),
    option("nullstr", "duckdb"),
    option("null", "duckdb"),
    translated(
        "keep_default_na",
        "pandas",
        "cudf",
        by=by.keep_default_na,
        meaning="`True` adds the words of pandas (`NA`, `NaN`, `null`, ...) to `null_values`; `False` leaves `na_values` alone",
    ),
    translated("na_filter", "pandas", "cudf", by=by.na_filter, meaning="`False` is `null_values=()`"),
    refused(
        "empty_string_is_null",
        "polars",
        use="pass null_values='NULL', or another text that is null: then empty strings are no nulls",
        unless=(None, True),
    ),
    refused("missing_utf8_is_empty_string", "polars", use="pass null_values='NULL': then empty strings are no nulls"),
    refused("strings_can_be_null", "pyarrow", use="pass null_values=() if no text is null", unless=(None, True)),
    option("quoted_strings_can_be_null", "pyarrow"),
    option("allow_quoted_nulls", "duckdb"),
    refused(
        "force_not_null", "duckdb", use="pass null_values={name: [...]} for the columns that have nulls", unless=(None, (), [])
    ),
    option("true_values", "pandas", "pyarrow", "cudf", meaning="replaces the default"),
    option("false_values", "pandas", "pyarrow", "cudf", meaning="replaces the default"),
    option("thousands", "pandas", "duckdb", "cudf"),
    option("decimal", "pandas", "duckdb", "cudf"),
    option("decimal_point", "pyarrow"),
    option("decimal_separator", "duckdb"),
    translated("decimal_comma", "polars", by=by.decimal_comma, meaning="`True` is `decimal=','`"),
    ignored("float_precision", "pandas", why="floats are always correctly rounded"),
    translated("parse_dates", "pandas", "cudf", by=by.parse_dates, meaning="no effect", note="dates are recognised without it"),
    ignored("try_parse_dates", "polars", why="dates are recognised without it"),
    ignored("infer_datetime_format", "pandas", why="dates are recognised without it"),
    ignored("cache_dates", "pandas", why="dates are parsed without a cache"),
    refused("date_parser", "pandas", use="pass date_format= with the format of the dates", unless=(None,)),
    option("date_format", "pandas", "duckdb", meaning="`'ISO8601'` is the default"),
    option("dateformat", "duckdb"),
    translated("timestamp_format", "duckdb", by=by.timestamp_format, meaning="`date_format`, before the format of dates"),
    translated("timestampformat", "duckdb", by=by.timestamp_format, meaning="`date_format`, before the format of dates"),
    option("timestamp_parsers", "pyarrow"),
    option("dayfirst", "pandas", "cudf"),
    translated(
        "check_utf8", "pyarrow", by=by.check_utf8, meaning="`True` is the default; `False` is `encoding_errors='replace'`"
    ),
    # Faults.
    translated(
        "on_bad_lines",
        "pandas",
        by=by.on_bad_lines,
        meaning="`'skip'` and `'warn'` are `short_records='null', long_records='reject'`, `'error'` the default",
    ),
    refused("error_bad_lines", "pandas", use="pass long_records='reject'", unless=(None, True)),
    ignored("warn_bad_lines", "pandas", why="table.rejects has the records"),
    refused(
        "ignore_errors", "polars", "duckdb", use="pass on_error='null' (as Polars does) or on_error='reject' (as DuckDB does)"
    ),
    translated("store_rejects", "duckdb", by=by.store_rejects, meaning="`True` is `on_error='reject'`"),
    option("rejects_limit", "duckdb", meaning="`0` is no limit", convert=by.zero_is_none),
    ignored("rejects_table", "duckdb", why="table.rejects has the faults"),
    ignored("rejects_scan", "duckdb", why="table.report has the account of the read"),
    ignored("rejects_line_size_limit", "duckdb", why="table.rejects has records of any length"),
    # The work.
    refused("batch_bytes", use="use scan_csv(source, batch_bytes=...).batches()", unless=()),
    refused("memory_limit", use="pass context=Context(memory_limit=...)", unless=(None,)),
    translated("use_threads", "pyarrow", by=by.one_thread, meaning="`False` is `threads=1`"),
    translated("parallel", "duckdb", by=by.one_thread, meaning="`False` is `threads=1`"),
    option("n_threads", "polars"),
    option("block_size", "pyarrow"),
    option("bytes_per_thread", "cudf"),
    ignored("buffer_size", "duckdb", why="records may be longer than a buffer"),
    refused("chunksize", "pandas", use="use scan_csv(source).batches()", unless=(None,)),
    refused("iterator", "pandas", use="use scan_csv(source).batches()"),
    refused("batch_size", "polars", use="use scan_csv(source, batch_bytes=...).batches()", unless=(None,)),
    ignored("engine", "pandas", why="there is one engine"),
    ignored("use_pyarrow", "polars", why="there is one engine"),
    ignored("memory_map", "pandas", why="files are read in pieces"),
    ignored("rechunk", "polars", why="each column is one piece"),
    ignored("cache", "polars", why="scans are not cached"),
    ignored("use_python_file_object", "cudf", why="the source decides"),
    ignored("verbose", "pandas", why="table.report has the account of the read"),
    ignored("column_statistics", "duckdb", why="table.report has the number of nulls"),
    refused("squeeze", "pandas", use="take the column: table[0]"),
    refused("memory_pool", "pyarrow", use="remove it; pass context=Context(memory_limit=...) for a limit", unless=(None,)),
    refused("connection", "duckdb", use="pass it to table.to_duckdb(connection)", unless=(None,)),
    translated("read_options", "pyarrow", by=by.option_object, meaning="its options that differ from their defaults"),
    translated("parse_options", "pyarrow", by=by.option_object, meaning="its options that differ from their defaults"),
    translated("convert_options", "pyarrow", by=by.option_object, meaning="its options that differ from their defaults"),
)

WORD_OF = {word.name: word for word in WORDS}
"""Rows by name."""
