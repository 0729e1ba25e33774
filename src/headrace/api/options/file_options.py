"""Lists the options of files: where text comes from, and how its bytes become text."""

from typing import get_args

from headrace.api.options import parsers
from headrace.api.options.keywords import EncodingErrors
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
from headrace.api.options.word import option, translated, when
from headrace.core.options import flag
from headrace.sources.compression.formats import COMPRESSIONS

FILE_OPTIONS = (
    Option(
        "compression",
        default="infer",
        parse=or_none(parsers.compression),
        help="how a file is compressed",
        choices=("infer", "none", *COMPRESSIONS),
        flags=(Flag("--compression", "choice_or_none", default="infer, from its first bytes"),),
        words=(option("compression", "pandas", "duckdb", "cudf", meaning="`'auto'` is `'infer'`, `'none'` is `None`"),),
    ),
    Option(
        "encoding",
        default=None,
        parse=parsers.unchecked,
        help="encoding of the text, e.g. utf-16, latin-1, cp1252",
        flags=(Flag("--encoding", metavar="NAME", default="by the byte-order mark, or utf-8"),),
        words=(option("encoding", "pandas", "polars", "pyarrow", "duckdb"),),
    ),
    Option(
        "encoding_errors",
        default="strict",
        parse=parsers.one_of(*get_args(EncodingErrors)),
        help="bytes that cannot be decoded: a fault (strict), or U+FFFD (replace)",
        choices=get_args(EncodingErrors),
        flags=(Flag("--encoding-errors", "choice", default="strict"),),
        words=(
            option("encoding_errors", "pandas", meaning="only `'strict'` and `'replace'`"),
            translated(
                "check_utf8",
                "pyarrow",
                by=when(False, encoding_errors="replace"),
                meaning="`True` is the default; `False` is `encoding_errors='replace'`",
            ),
        ),
    ),
    Option(
        "glob",
        default=True,
        parse=flag,
        help="a path with *, ? or [ is a pattern",
        flags=(Flag("--no-glob", "off", help="a FILE with *, ? or [ is not a pattern"),),
        words=(option("glob", "polars"),),
    ),
    Option(
        "union_by_name",
        default=False,
        parse=flag,
        help="match the columns of several files by name, not by position",
        flags=(Flag("--union-by-name", "on"),),
        words=(option("union_by_name", "duckdb"),),
    ),
    Option(
        "include_missing_columns",
        default=False,
        parse=flag,
        help="columns that columns, schema or dtypes names and the text lacks are columns of nulls",
        flags=(Flag("--include-missing-columns", "on", help="columns that an option names and the text lacks are nulls"),),
        words=(option("include_missing_columns", "pyarrow", meaning="without a type, the columns are strings"),),
    ),
    Option(
        "include_file_paths",
        default=None,
        parse=parsers.path_column,
        help="name of a last column with the path of the file that each row comes from",
        words=(option("include_file_paths", "polars"), option("filename", "duckdb", meaning="`True` is `'filename'`")),
        flags=(Flag("--file-paths", metavar="NAME"),),
    ),
    Option(
        "hive_partitioning",
        default="auto",
        parse=parsers.flag_or_auto,
        help="folders such as year=2024 in the paths become columns",
        flags=(
            Flag("--hive", "on", default="if all of several files have the same ones"),
            Flag("--no-hive", "off", help="folders such as year=2024 do not become columns"),
        ),
        words=(option("hive_partitioning", "duckdb"),),
    ),
)
