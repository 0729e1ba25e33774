"""Lists the parameters of `read_csv` of pandas, Polars, PyArrow, DuckDB and cuDF, and what each means here.

A word of one option is in the option's row (`Option.words`), the others are here. They are translated by a function, accepted
without an effect, or refused with the option to use instead. docs/coming-from.md is generated from all rows. A test compares them
with the installed packages.
"""

from headrace.api.options import word_values as by
from headrace.api.options.table import OPTIONS
from headrace.api.options.word import Word, ignored, refused, source, translated, when

OTHER_WORDS: tuple[Word, ...] = (
    # The source.
    source("filepath_or_buffer", "pandas", "cudf"),
    source("source", "polars"),
    source("input_file", "pyarrow"),
    source("path_or_buffer", "duckdb"),
    source("path", "duckdb"),
    refused("storage_options", "pandas", "polars", "cudf", use="pass fsspec.open(url, **storage_options) as the source"),
    refused("credential_provider", "polars", use="pass fsspec.open(url, ...) as the source", unless=(None, "auto")),
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
    refused("delim_whitespace", "pandas", "cudf", use="replace runs of spaces first: re.sub(rb'[ \\t]+', b'\\t', text)"),
    translated(
        "quoting", "pandas", "cudf", by=by.quoting, meaning="`csv.QUOTE_NONE` is `quote_char=None`; others are the default"
    ),
    translated("escape", "duckdb", by=by.escape, meaning="`escape_char`; the quote itself is `double_quote=True`"),
    ignored("newlines_in_values", "pyarrow", why="line breaks in quotes are always read right"),
    ignored("sample_size", "duckdb", "polars", why="types are inferred from the whole text"),
    ignored("files_to_sniff", "duckdb", why="types are inferred from all files"),
    # Header and records.
    refused("byte_range", "cudf", use="use scan_csv(source, resume=byte) to begin at a record in the middle"),
    translated(
        "truncate_ragged_lines",
        "polars",
        by=when(True, short_records="null", long_records="truncate"),
        meaning="`True` is `short_records='null', long_records='truncate'`",
    ),
    refused(
        "invalid_row_handler", "pyarrow", use="pass short_records= and long_records=, and look at table.rejects", unless=(None,)
    ),
    refused("allow_empty", "duckdb", use="pass schema= or names= to get an empty table of an empty text"),
    refused("raise_if_empty", "polars", use="pass schema= or names= to get an empty table of an empty text", unless=(None, True)),
    ignored("max_line_size", "duckdb", why="records may have any length"),
    ignored("maximum_line_size", "duckdb", why="records may have any length"),
    # Columns and types.
    translated("new_columns", "polars", by=by.new_columns, meaning="`names`, in place of those of the header"),
    refused("with_column_names", "polars", use="pass names=, or rename columns of the table: table.rename(...)"),
    refused("prefix", "cudf", use="pass names=[f'{prefix}{i}' for i in range(width)]"),
    refused("normalize_names", "duckdb", use="rename columns of the table: table.rename(...)"),
    refused(
        "mangle_dupe_cols", "cudf", use="remove it; repeated names get numbers, and the report lists them", unless=(None, True)
    ),
    refused("index_col", "pandas", "cudf", use="a table has no index: table.to_pandas().set_index(name)", unless=(None, False)),
    translated(
        "default_column_type", "pyarrow", by=by.default_column_type, meaning="`dtypes`; or `infer_schema=False` for strings"
    ),
    refused("auto_type_candidates", "duckdb", use="pass dtypes= with the types of the columns", unless=(None,)),
    ignored("dtype_backend", "pandas", why="columns are Arrow columns; to_pandas(dtype_backend=...) has the choice"),
    refused(
        "converters", "pandas", use="read the columns as strings (dtypes=), and convert them after the read", unless=(None, {})
    ),
    translated(
        "infer_schema_length",
        "polars",
        by=by.infer_schema_length,
        meaning="`0` is `infer_schema=False`; other numbers have no effect",
        note="types are inferred from the whole text",
    ),
    ignored("infer_schema_files", "polars", why="types are inferred from all files"),
    ignored("low_memory", "pandas", "polars", why="types never depend on pieces of the text"),
    ignored("auto_dict_max_cardinality", "pyarrow", why="a dictionary may have any number of texts"),
    refused("file_row_number", "duckdb", use="pass row_index_name='file_row_number'; it continues from file to file"),
    # Values.
    translated(
        "keep_default_na",
        "pandas",
        "cudf",
        by=by.keep_default_na,
        meaning="`True` adds the words of pandas (`NA`, `NaN`, `null`, ...) to `null_values`; `False` leaves `na_values` alone",
    ),
    refused(
        "empty_string_is_null",
        "polars",
        use="pass null_values='NULL', or another text that is null: then empty strings are no nulls",
        unless=(None, True),
    ),
    refused("missing_utf8_is_empty_string", "polars", use="pass null_values='NULL': then empty strings are no nulls"),
    refused("strings_can_be_null", "pyarrow", use="pass null_values=() if no text is null", unless=(None, True)),
    refused(
        "force_not_null", "duckdb", use="pass null_values={name: [...]} for the columns that have nulls", unless=(None, (), [])
    ),
    ignored("float_precision", "pandas", why="floats are always correctly rounded"),
    translated("parse_dates", "pandas", "cudf", by=by.parse_dates, meaning="no effect", note="dates are recognised without it"),
    ignored("try_parse_dates", "polars", why="dates are recognised without it"),
    ignored("infer_datetime_format", "pandas", why="dates are recognised without it"),
    ignored("cache_dates", "pandas", why="dates are parsed without a cache"),
    refused("date_parser", "pandas", use="pass date_format= with the format of the dates", unless=(None,)),
    translated("timestamp_format", "duckdb", by=by.timestamp_format, meaning="`date_format`, before the format of dates"),
    translated("timestampformat", "duckdb", by=by.timestamp_format, meaning="`date_format`, before the format of dates"),
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
    ignored("rejects_table", "duckdb", why="table.rejects has the faults"),
    ignored("rejects_scan", "duckdb", why="table.report has the account of the read"),
    ignored("rejects_line_size_limit", "duckdb", why="table.rejects has records of any length"),
    # The work.
    refused("batch_bytes", use="use scan_csv(source, batch_bytes=...).batches()", unless=()),
    refused("memory_limit", use="pass context=Context(memory_limit=...)", unless=(None,)),
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

WORDS = (*(word for option in OPTIONS for word in option.words), *OTHER_WORDS)
WORD_OF = {word.name: word for word in WORDS}  # rows by name
