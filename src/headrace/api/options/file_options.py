"""Lists the options of files: where text comes from, and how its bytes become text."""

from typing import get_args

from headrace.api.options import parsers
from headrace.api.options.keywords import EncodingErrors
from headrace.api.options.option import Flag, Option
from headrace.api.options.parsers import or_none
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
    ),
    Option(
        "encoding",
        default=None,
        parse=parsers.unchecked,
        help="encoding of the text, e.g. utf-16, latin-1, cp1252",
        flags=(Flag("--encoding", metavar="NAME", default="by the byte-order mark, or utf-8"),),
    ),
    Option(
        "encoding_errors",
        default="strict",
        parse=parsers.one_of(*get_args(EncodingErrors)),
        help="bytes that cannot be decoded: a fault (strict), or U+FFFD (replace)",
        choices=get_args(EncodingErrors),
        flags=(Flag("--encoding-errors", "choice", default="strict"),),
    ),
    Option(
        "glob",
        default=True,
        parse=flag,
        help="a path with *, ? or [ is a pattern",
        flags=(Flag("--no-glob", "off", help="a FILE with *, ? or [ is not a pattern"),),
    ),
    Option(
        "union_by_name",
        default=False,
        parse=flag,
        help="match the columns of several files by name, not by position",
        flags=(Flag("--union-by-name", "on"),),
    ),
    Option(
        "include_missing_columns",
        default=False,
        parse=flag,
        help="columns that columns, schema or dtypes names and the text lacks are columns of nulls",
        flags=(Flag("--include-missing-columns", "on", help="columns that an option names and the text lacks are nulls"),),
    ),
    Option(
        "include_file_paths",
        default=None,
        parse=parsers.path_column,
        help="name of a last column with the path of the file that each row comes from",
        aliases=("filename",),
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
    ),
)
